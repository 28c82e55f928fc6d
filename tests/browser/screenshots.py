"""Takes the pictures a person looks at before a page is called done, and README's one: ``make screenshot``.

Every page at 1440 and 390 pixels, light and dark, into ``tests/browser/shots/`` (not kept in the repository), and
``docs/selection.png``, which is.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from dashboard import catalogue
from tests.browser.server import CHROMIUM, FLAGS, ROOT, running

SHOTS = Path(__file__).with_name("shots")
SIZES = {"wide": (1440, 1000), "phone": (390, 844)}


def wait(page: Page) -> None:
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)
    page.wait_for_function(
        "!document.querySelector('[data-testid=stSkeleton]')", timeout=60_000
    )  # what is still loaded
    page.wait_for_timeout(1500)


def take(browser: Browser, address: str, path: str, name: str, *, size: str, dark: bool, whole: bool = True) -> None:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", device_scale_factor=1
    )
    page = context.new_page()
    page.goto(address + path)
    wait(page)
    if whole:
        # Streamlit scrolls an inner element: grow the window until everything is visible.
        tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": width, "height": max(height, min(int(tall) + 20, 6000))})
        wait(page)
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}-{size}-{'dark' if dark else 'light'}.png"))
    context.close()


def main(pages: list[str]) -> None:
    own = [file.stem for file in sorted((ROOT / "dashboard" / "app_pages").glob("*.py"))]
    names = pages or own + [page.key for page in catalogue.pages()]
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names:
            path, _, query = name.partition("?")
            url = "/" + ("" if path == "start" else path) + (f"?{query}" if query else "")
            label = name.replace("?", "-").replace("&", "-").replace("=", "_")
            for size in SIZES:
                for dark in (False, True):
                    take(browser, address, url, label, size=size, dark=dark)
        if not pages:
            (ROOT / "docs").mkdir(exist_ok=True)
            take(browser, address, "/selection", "readme", size="wide", dark=False, whole=False)
            (SHOTS / "readme-wide-light.png").replace(ROOT / "docs" / "selection.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
