"""Nothing by which a page names its parts can be worked out from a file: no key, no element's id, no link.

Whoever is sent a saved page would test guesses of the one row they do not know on a digest without a key; and whoever
may bring a file to the same server, on one whose key is that of the server.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Node

from dashboard import catalogue, session
from dashboard.catalogue import address
from dashboard.controls import Choice, Control
from dashboard.data import naming
from dashboard.replay import Known
from dashboard.widgets import finger
from tests.dashboard.conftest import rested
from tests.dashboard.test_data_page import declare, drop, look, press, shown, survey

Open = Callable[..., AppTest]
_OURS = re.compile(
    r"\$\$ID-[0-9a-f]{32}-|/media/[0-9a-f]+|(?<=deferred_file_id: \")[0-9a-f]{32}(?=\")"
    r"|(?<=page_script_hash: \")[0-9a-f]{32}(?=\")"
)
"""What Streamlit makes of the arguments of each element, all of which stand in the page, ``media``'s addresses, which
are keyed and have tests of their own, what a file that is made when clicked is asked for by, which is random, and the
names of the product's own pages."""
_DIGEST = re.compile(r"(?<![0-9a-zA-Z.])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{8,}(?![0-9a-zA-Z])")


def nodes(of: Node) -> Iterator[Node]:
    yield of
    if isinstance(of, Block):
        for child in of.children.values():
            yield from nodes(child)


def told(app: AppTest) -> str:
    """All that a browser is sent of a page, and its link."""
    root: Block = app._tree  # type: ignore[assignment]
    parts = [str(getattr(node, "proto", "")) for node in nodes(root)]
    return "\n".join([*parts, *(f"{name}={value}" for name, value in app.query_params.items())])


def digests(app: AppTest) -> set[str]:
    return set(_DIGEST.findall(_OURS.sub("", told(app))))


def every_state(app: AppTest) -> Iterator[AppTest]:
    """The page as it asks, with a column open, with its words taken over, with the file in use."""
    yield drop(app, survey())
    app.selectbox(key="own-column").select("Beruf").run()
    yield app
    yield press(app, next(str(button.key) for button in app.button if str(button.key).endswith("-copy")))
    look(app)
    assert shown(app).mode == "what_if"
    yield app


def test_no_name_is_a_digest_without_a_key(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that are keyed are set to something else here, so that what is left was worked out without the key."""
    known: dict[object, str] = {}
    monkeypatch.setattr(naming, "named", lambda what: known.setdefault(what, f"keyed{len(known)}"))
    app = open_app("data")
    pages = digests(app)  # the names of the pages, without any file
    for place, page in enumerate(every_state(app)):
        assert "keyed" in told(page), "the page is found"
        assert digests(page) <= pages, place
    # as it was
    monkeypatch.setattr(naming, "named", lambda what: hashlib.sha256(repr(what).encode()).hexdigest()[:10])
    assert digests(app.run()) - pages, "this test can fail"


def table() -> bytes:
    """Something to ask every question about."""
    rows = ((n % 7 / 7, n % 5 / 5, "abc"[n % 3], "yes" if n % 4 else "no", 1 + n % 28) for n in range(40))
    lines = [f"{one:.3f},{other:.3f},{letter},{said},2024-01-{day:02}" for one, other, letter, said, day in rows]
    return "\n".join(["ann,bo,kind,came,day", *lines, "0.111,0.222,b,no,2024-01-30"]).encode()


def in_use(app: AppTest) -> AppTest:
    drop(app, table(), name="x.csv")
    for name in ("ann", "bo"):
        declare(app, name, low=0.0, high=1.0)
    app.number_input(key="own-rows-None").set_value(1).run()
    return look(app)


def everywhere(app: AppTest, *, tabs: bool) -> Iterator[tuple[str, set[str]]]:
    """Where one is, and what may be a name there: the Data page, and every question, with each of its tabs."""
    yield "data", digests(app)
    for page, kind in catalogue.every():
        app.switch_page(address(page.key))
        app.session_state[f"{page.key}_question"] = kind.key
        rested(app.run())
        yield kind.key, digests(app)
        kept: dict[str, Control[object]] = app.session_state["_controls"]
        opens = next((one for one in kept.values() if one.key.endswith("_open")), None)
        for tab in opens.options if tabs and isinstance(opens, Choice) else ():
            app.session_state["_set"][opens.key] = tab  # type: ignore[union-attr]
            yield f"{kind.key}, {tab}", digests(rested(app.run()))


@pytest.fixture
def without_checksum(monkeypatch: pytest.MonkeyPatch) -> None:
    """What every step of ε says goes out with a checksum of itself, which stands in no element: it is left out."""
    monkeypatch.setattr(finger, "_steps", lambda levels: Known(name="steps", levels=levels))


def shared(open_app: Open, *, tabs: bool = False) -> list[tuple[str, set[str]]]:
    """What two sessions with the very same file are both sent, where one without a file is not."""
    public = set[str]().union(*(found for _, found in everywhere(open_app("data"), tabs=tabs)))
    first, second = in_use(open_app("data")), in_use(open_app("data"))
    both = zip(everywhere(first, tabs=tabs), everywhere(second, tabs=tabs), strict=True)
    return [(place, found) for (place, here), (_, there) in both if (found := (here & there) - public)]


@pytest.mark.thorough
@pytest.mark.usefixtures("without_checksum")
def test_no_name_of_a_file_is_the_same_in_another_session(open_app: Open) -> None:
    """Else who knows all rows but one brings each guess of it, and holds the names against a saved page."""
    assert shared(open_app) == []


@pytest.mark.thorough
@pytest.mark.usefixtures("without_checksum")
def test_names_that_are_the_servers_are_seen(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was."""
    monkeypatch.setattr(naming, "named", naming.named_within)
    seen = set[str]()
    for _ in range(3):  # what a page of a busy computer has worked out beside it comes a moment later
        seen |= {place for place, _ in shared(open_app)}
        if seen >= {"data", "fixed_choice"}:
            return
    raise AssertionError(seen)


@pytest.mark.thorough
@pytest.mark.usefixtures("without_checksum")
def test_no_name_under_a_tab_is_the_same_in_another_session(open_app: Open) -> None:
    assert shared(open_app, tabs=True) == []


def test_what_is_compared_between_windows_stands_in_no_page(open_app: Open) -> None:
    """It is the same in each of them, by which a guess could be tested."""
    first, second = in_use(open_app("data")), in_use(open_app("data"))
    name = shown(first).drawn_from
    assert name == shown(second).drawn_from
    assert shown(first).key != shown(second).key
    first.switch_page(address("experts")).run()
    assert name not in told(first)
    assert shown(first).key.removeprefix("own-") in told(first), "names are found"


def test_names_stay_within_a_session_and_with_what_its_tab_takes_over(open_app: Open) -> None:
    app = in_use(open_app("data"))
    before, key = digests(app), shown(app).key
    assert digests(app.run()) == before
    press(app, "own-stop")
    look_again = press(app, "own-look")
    assert shown(look_again).key == key
    assert "_naming" in session.staying()
