"""What the server keeps, hands out and draws of a person's file, beside the answers themselves.

Three things are looked at: the objects of the process after a file was forgotten; everything that two ledgers with
different keys hold about one file, and its receipts, which may share nothing that a guess could be tested on; and the
texts of a page about a file whose headings and words are markup.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import streamlit as st
from google.protobuf.message import Message
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.background import compute
from dashboard.background.in_use import InUse
from dashboard.catalogue import address
from dashboard.words.most_common import WHAT_IF
from dpcore.audit.interference import Verdict
from dpcore.datasets import Column, Declaration, read_csv, sketch
from dpcore.ledger import Ledger
from dpcore.ledger.key import Key
from dpcore.ledger.records import FIRST
from dpcore.release import question_digest, release
from dpcore.releases.selection import MostCommonOption

APP = Path(__file__).parents[2] / "dashboard" / "app.py"
NAMES = (":material/pets:", "**bold**", "![p](http://q.r/x.png)", ":red[ink]", "<img src=x>", "`code` $x^2$")
ADDRESSES = "https://q.r www.q.r p@q.r"
MARKUP = re.compile(
    r"(?<!\\):material/pets|(?<!\\)\*\*bold|(?<!\\)!\[p|\[p\]\(http|(?<!\\):red(?<!\\)\[ink|<img|(?<!\\)`code|(?<!\\)\$x"
    r"|https?\\?:\\?/\\?/q|www\\?\.q|p@q"  # an address becomes a link whether or not its signs are escaped
)
RENDERED = {"label", "body", "help", "content", "caption", "title", "content_help", "captions"}
OPTIONS = {"radio", "button_group", "pills", "segmented_control"}
"""Kinds of widgets whose options are read as Markdown; those of lists are plain text."""


# -- driving the product -----------------------------------------------------------------------------------------------


@contextmanager
def _server() -> Iterator[AppTest]:
    """The product in this process, with a ledger and key of its own."""
    with tempfile.TemporaryDirectory(prefix="epsilon-lab-audit-") as folder:
        place = {
            "EPSILON_LAB_LEDGER": f"sqlite:///{folder}/ledger.db",
            "EPSILON_LAB_KEY": f"{folder}/ledger.key",
            "EPSILON_LAB_WARM_UP": "0",
        }
        with patch.dict(os.environ, place):
            Ledger.open(create=True).close()
            st.cache_resource.clear()
            st.cache_data.clear()
            compute.MEMORY.forget()
            yield AppTest.from_file(str(APP), default_timeout=600).run()
            compute.ledger().close()
            st.cache_resource.clear()


def _waited(app: AppTest) -> None:
    """Run on until nothing is being read any more."""
    while any(re.match(r"cancel-\d+$", str(button.key)) for button in app.button):
        time.sleep(0.1)
        app.run()
    if app.exception:
        raise RuntimeError([error.value for error in app.exception])


def _press(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()
    _waited(app)


def _brought(app: AppTest, data: bytes) -> None:
    """A file on the Data page, called public and looked at."""
    app.switch_page(address("data")).run()
    app.file_uploader[0].upload("file.csv", data).run()
    _waited(app)
    next(box for box in app.checkbox if str(box.key).startswith("own-public")).check()
    _press(app, "own-look")


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from _nodes(child)


# -- 8: what is left of a file -----------------------------------------------------------------------------------------


def left_behind() -> list[str]:
    """What is in the server's memories of a file that was looked at, asked about and forgotten."""
    with _server() as app:
        rows = "".join(f"{('red', 'blue', 'red')[n % 3]},{n}\n" for n in range(60))
        _brought(app, f"colour,number\n{rows}".encode())
        _press(app, "own-selection-0")
        fingerprint = str(app.session_state["_own_source"].table.fingerprint)
        if not _memories(fingerprint, app):
            return ["nothing was remembered, so nothing was looked for"]
        app.switch_page(address("data")).run()
        _press(app, "own-remove")
        _press(app, "own-forget")
        app.run()
        return _memories(fingerprint, app)


def _memories(fingerprint: str, app: AppTest) -> list[str]:
    """Which memories hold something under this name of a table: the session's, or those of all people."""
    gc.collect()
    places = {"the memory of all people": compute.MEMORY, "the large memory of all people": compute.LARGE.memory}
    for name in ("_memory", "_large"):
        if name in app.session_state:
            held = app.session_state[name]
            places[f"the session's {name}"] = held.memory if isinstance(held, InUse) else held
    return sorted(name for name, memory in places.items() if fingerprint in repr(list(vars(memory)["_values"])))


# -- 10: what a guess could be tested on -------------------------------------------------------------------------------


def testable() -> list[str]:
    """What two servers with keys of their own both keep or hand out about one file, beside what is public."""
    first, second = _kept(), _kept()
    return [f"{len(first & second)} marks are the same on two servers"] if first & second else []


def _kept() -> set[str]:
    """Every long word with digits in it that a server's journal and receipt hold of a file, and its sketch's marks."""
    rows = "".join(f"{('a', 'b', 'c')[n % 3]},{n * 7919 % 997}\n" for n in range(300))
    reading = read_csv(f"option,number\n{rows}".encode())
    option = Column(name="option", type="category", categories=("a", "b", "c"))
    request = MostCommonOption.of(Declaration(columns=(option,)), "option", epsilon=0.5)
    with tempfile.TemporaryDirectory(prefix="epsilon-lab-audit-") as folder:
        journal = Path(folder) / "journal"
        with patch.dict(os.environ, {"EPSILON_LAB_KEY": f"{folder}/ledger.key"}):
            ledger = Ledger.open(f"sqlite:///{folder}/ledger.db", journal=journal, create=True)
            lineage, marks = Ledger.new_lineage(), sketch(reading, ledger.sketch_key)
            ledger.open_budget(lineage, epsilon=1.0, name="people")
            ledger.link(reading.fingerprint, lineage, marks)
            receipt = release(ledger, os.urandom(8).hex(), lineage, request, reading.private)
            ledger.close()
        text = journal.read_text(encoding="utf-8") + receipt.to_json()
    found = {word for word in re.findall(r"[A-Za-z0-9+/=_-]{16,}", text) if len(re.findall(r"[0-9]", word)) > 2}
    found |= {str(mark) for combination in marks.combinations for mark, _ in combination.marks}
    return found - {question_digest(request), FIRST}


# -- 14: markup of a file ----------------------------------------------------------------------------------------------


def markup() -> list[str]:
    """Headings and words of a file that its pages would render."""
    head = ";".join(NAMES)
    rows = [
        f"{NAMES[n % 3 * (n % 2)]};{n % 7};{('yes', 'no')[n % 2]};{20 + n % 30};{1.5 * n};2024-01-{1 + n % 28:02}"
        for n in range(90)
    ]
    with _server() as app:
        _brought(app, "\n".join([head, *rows]).encode())
        _press(app, "own-selection-0")
        app.switch_page(address("selection")).run()
        app.session_state["selection_tab"] = WHAT_IF
        app.run()
        if len([one for one in app.number_input if "edit" in str(one.key)]) < 3:
            return ["the labels of What if were not drawn"]
        return rendered(app)


def rendered(app: AppTest) -> list[str]:
    """What of the page would be rendered as markup of the file's own."""
    found: list[str] = []
    for node in _nodes(app._tree):
        proto = getattr(node, "proto", None)
        if not isinstance(proto, Message):
            continue
        kind = str(getattr(node, "type", ""))
        if kind == "plotly_chart":
            found += [text for text in _texts(json.loads(proto.spec)) if "<img" in text]  # type: ignore[attr-defined]
            continue
        read = [*strings(proto, options=kind in OPTIONS), *(cells(proto) if kind == "table" else ())]
        found += [text for text in read if MARKUP.search(text)]
    return found


def cells(table: Any) -> Iterator[str]:
    """Every text of a table that cannot be sorted: all of it is read as Markdown."""
    sent = convert_arrow_bytes_to_pandas_df(table.arrow_data.data)
    yield from map(str, [*sent.columns, *sent.index, *sent.to_numpy().ravel()])


def strings(message: Message, *, options: bool) -> Iterator[str]:
    """Every text of an element that is read as Markdown."""
    for field, found in message.ListFields():
        many = found if not isinstance(found, (str, bytes, int, float, Message)) else [found]
        for one in many:
            if isinstance(one, Message):
                yield from strings(one, options=options)
            elif isinstance(one, str) and (field.name in RENDERED or (options and field.name == "options")):
                yield one


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _texts(each)


# -- the three as they are, and with their holes dug again -------------------------------------------------------------


def _forgetting_nothing() -> AbstractContextManager[Any]:
    return patch.object(session, "forget_own", lambda: None)


def _remembering_for_all() -> AbstractContextManager[Any]:
    return patch.object(compute, "memory", lambda own: compute.MEMORY)


def _one_key() -> AbstractContextManager[Any]:
    return patch.object(Ledger, "sketch_key", property(lambda self: b"epsilon-lab"))


def _hashed_file() -> AbstractContextManager[Any]:
    plain = lambda self, kind, *parts: hashlib.sha256(f"{kind} {parts[-1]}".encode()).hexdigest()  # noqa: E731
    return patch.object(Key, "mark", plain)


def _hashed_rows() -> AbstractContextManager[Any]:
    return patch.object(Ledger, "new_lineage", staticmethod(lambda: base64.b32encode(b"all of its rows").decode()))


def _unescaped() -> AbstractContextManager[Any]:
    return patch.object(words, "safe", lambda text, longest=200: str(text))


LEFT = "nothing is left of a file that was forgotten"
GUESSED = "nothing that is kept can be tested on a guess"
RENDERED_TEXT = "nothing of a file is rendered"
CHECKS: dict[str, Callable[[], list[str]]] = {
    LEFT: left_behind,
    GUESSED: testable,
    RENDERED_TEXT: markup,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHole:
    """A mutant of the server: within it, the ``check`` must find something."""

    name: str
    check: str
    within: Callable[[], AbstractContextManager[Any]]


SERVER_HOLES: dict[str, ServerHole] = {
    hole.name: hole
    for hole in (
        ServerHole(name="8 a file's figures in the memory of all", check=LEFT, within=_remembering_for_all),
        ServerHole(name="8 a file forgotten, its figures not", check=LEFT, within=_forgetting_nothing),
        ServerHole(name="10 a sketch that needs no secret", check=GUESSED, within=_one_key),
        ServerHole(name="10 a file known by its hash", check=GUESSED, within=_hashed_file),
        ServerHole(name="10 people named by a hash of their rows", check=GUESSED, within=_hashed_rows),
        ServerHole(name="14 words of a file rendered in labels", check=RENDERED_TEXT, within=_unescaped),
    )
}


def check_server(check: str, within: Callable[[], AbstractContextManager[Any]] = nullcontext) -> Verdict:
    """One of ``CHECKS``."""
    with within():
        found = CHECKS[check]()
    return Verdict(name=check, used=0.0, pairs=1, trouble=tuple(sorted(set(found))[:3]))
