"""Nothing by which the Data page names its parts can be worked out from a file: no key, no element's id, no link.

Whoever is sent a saved page would test guesses of the one row they do not know on a digest without a key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Node

from dashboard.data import actions, checklist, editor, naming
from tests.dashboard.test_data_page import drop, held, look, press, shown, survey

Open = Callable[..., AppTest]
_OURS = re.compile(r"\$\$ID-[0-9a-f]{32}-|/media/[0-9a-f]+|(?<=deferred_file_id: \")[0-9a-f]{32}(?=\")")
"""What Streamlit makes of the arguments of each element, all of which stand in the page, ``media``'s addresses, which
are keyed and have tests of their own, and what a file that is made when clicked is asked for by, which is random."""
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


def test_names_differ_between_servers_and_stay_within_one(monkeypatch: pytest.MonkeyPatch, open_app: Open) -> None:
    own = held(drop(open_app("data"), survey()))

    def names() -> set[str]:
        listed = own.schema.names
        return {
            actions.public_key(own),
            *(editor.mark(column) for column in own.schema.columns),
            checklist._public_key(listed, copied=True),
        }

    here = names()
    assert here == names()
    monkeypatch.setattr(naming, "_KEY", bytes(32))
    assert not here & names()
