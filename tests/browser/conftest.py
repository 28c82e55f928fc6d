"""Fixtures of the browser tests: one server and one Chromium per worker, a context as good as new per visitor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.browser.server import CHROMIUM, FLAGS, running

# Generous, so that a busy machine is slow rather than wrong; nothing here measures time.
PATIENCE = 240_000
POLICY = "Content Security Policy"
# What stands for a picture that is on its way shimmers for as long as it is: sixty frames a second, drawn by processor.
STILL = """{
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('[data-testid^=stSkeleton] { animation: none !important }')
  document.adoptedStyleSheets = [sheet]
}"""
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server has its ledger, from which many visitors spend."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    """One server for all files: pages of another one would be compiled once more, for they have another address."""
    with running(folder) as at:
        yield at


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """Chromium for all files, with the event loop that drives it: a new one would compile everything once more."""
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: install Debian's chromium package and run make test again", pytrace=False)
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="module")
def browser(chromium: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """Chromium for one file. Its event loop rests between files, so that others can run loops of their own."""
    asyncio._set_running_loop(chromium[1])
    yield chromium[0]
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def free() -> list[BrowserContext]:
    """Contexts that nobody uses at present."""
    return []


@pytest.fixture(scope="module")
def lent(
    browser: Browser, address: str, free: list[BrowserContext]
) -> Callable[..., AbstractContextManager[BrowserContext]]:
    """Contexts that are used again; see ``contexts``. All are of one kind, for the first page in each takes 6 seconds
    of processor: a page of another size says so itself (``set_viewport_size``).

    In each, one small page of the product stays open: beside it a page opens in half the time, because Chromium keeps
    what it has compiled for as long as a page of that server is there (``--process-per-site``).
    """

    @contextmanager
    def go() -> Iterator[BrowserContext]:
        if not free:
            made = browser.new_context(viewport={"width": 1440, "height": 1000})
            made.set_default_timeout(PATIENCE)
            made.add_init_script(STILL)
            made.new_page().goto(f"{address}/_stcore/health")
            free.append(made)
        context = free.pop()
        yield context
        stays, *pages = context.pages
        for page in pages:
            page.close()
        context.clear_cookies()
        everything = {"origin": "*", "storageTypes": "all"}
        context.new_cdp_session(stays).send("Storage.clearDataForOrigin", everything)
        free.append(context)

    return go


@pytest.fixture
def contexts(lent: Callable[..., AbstractContextManager[BrowserContext]]) -> Iterator[Callable[..., BrowserContext]]:
    """Makes contexts, each a visitor of its own. No page in them may ask for what only another server has."""
    refused: list[str] = []

    def note(said: ConsoleMessage) -> None:
        if POLICY in said.text:
            refused.append(said.text)

    with ExitStack() as given_back:

        def go() -> BrowserContext:
            context = given_back.enter_context(lent())
            context.on("console", note)
            given_back.callback(context.remove_listener, "console", note)
            return context

        yield go
    assert refused == []


@pytest.fixture
def context(contexts: Callable[..., BrowserContext]) -> BrowserContext:
    return contexts()


@pytest.fixture
def open_page(context: BrowserContext, address: str) -> Callable[[str], Page]:
    """Opens a path of the product in a new tab and waits until its first run has finished."""

    def go(path: str = "/") -> Page:
        page = context.new_page()
        page.goto(f"{address}{path}")
        settled(page)
        return page

    return go


def settled(page: Page) -> None:
    """Wait until a script run has drawn a heading and no run is under way."""
    heading = "[data-testid=stMain] h1, [data-testid=stException]"
    page.wait_for_selector(heading, timeout=PATIENCE)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENCE)
