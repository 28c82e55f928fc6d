"""Whatever is logged, by whomever, is one line that can be printed; walked over all that the server's parts can log."""

from __future__ import annotations

import ast
import io
import logging
import re
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit

from dashboard.serving import log_line, pace
from dashboard.serving.log_line import AHEAD, LONGEST, OneLine
from dpcore.defects import _logged

HOSTILE = "frag\n2026-11-23 03:59:59 epsilon-lab: forged \x1b[31m\r\x0b\x85\u2028\u202e\x00\ud800" + "A" * 100_000
ROOT = Path(__file__).parents[2]
HERE = Path(streamlit.__file__).parent
CALL = re.compile(r"\b_?(?:LOGGER|LOG|log|logger)\.(?:debug|info|warning|error|exception|critical|log)\(")


def formats() -> Iterator[str]:
    """What our own code and the parts of Streamlit that read messages may log, as it stands there."""
    ours = [
        *(ROOT / "dashboard").glob("*.py"),
        *(
            file
            for part in ("background", "people", "runtime", "serving")
            for file in (ROOT / "dashboard" / part).glob("*.py")
        ),
        ROOT / "dpcore/defects.py",
    ]
    theirs = [*(HERE / "runtime").glob("*.py"), *(HERE / "web" / "server" / "starlette").glob("*.py")]
    for file in [*ours, *theirs]:
        source = file.read_text(encoding="utf-8")
        for call in CALL.finditer(source):
            first = re.match(r'\s*((?:f?"(?:[^"\\\n]|\\.)*"\s*)+)', source[call.end() :])
            if first:
                yield "".join(part for part in re.findall(r'"((?:[^"\\\n]|\\.)*)"', first.group(1)))


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a handler of the usual kind writes, on a logger of its own."""
    log_line.guard()
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    names = ("streamlit.runtime.app_session", "uvicorn.error", "asyncio", "dpcore", "py.warnings")
    loggers = [logging.getLogger(name) for name in names]
    before = [(one.propagate, one.handlers, one.level) for one in loggers]
    for one in loggers:
        one.propagate, one.handlers = False, [handler]
        one.setLevel(logging.DEBUG)
    yield out
    for one, (propagate, handlers, level) in zip(loggers, before, strict=True):
        one.propagate, one.handlers = propagate, handlers
        one.setLevel(level)
    log_line.unguard()


def check(text: str, entries: int) -> None:
    lines = text.split("\n")
    assert (len(lines), lines[-1]) == (entries + 1, "")
    assert all(line.isprintable() for line in lines)
    assert all(len(line) <= 2 * LONGEST + 60 for line in lines)
    assert "forged" not in text
    assert "Traceback" not in text


def raised(words: str) -> Exception:
    try:
        raise ValueError(words)
    except ValueError as error:
        return error


def test_all_that_the_server_may_log_is_one_line(written: io.StringIO) -> None:
    found = list(formats())
    assert len(found) > 40, "or nothing was walked"
    log = logging.getLogger("streamlit.runtime.app_session")
    for each in found:
        count = len(re.findall(r"(?<!%)%[sdr]", each))
        log.warning(re.sub(r"(?<!%)%[dr]", "%s", each), *[HOSTILE] * count)
    check(written.getvalue(), len(found))


SESSION = "3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b"
WORDS = "words of a stranger"


def calls() -> Iterator[tuple[str, str]]:
    """Each entry that Streamlit may write where it reads what arrives: its logger, and what it says."""
    for part in ("runtime", "web", "components", "elements"):
        for file in (HERE / part).rglob("*.py"):
            name = ".".join(file.relative_to(HERE.parent).with_suffix("").parts)
            if name.startswith(log_line._TOLD_BY_US):
                continue
            for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(call, ast.Call) and CALL.match(ast.unparse(call)) and len(call.args) > 1:
                    assert isinstance(call.args[0], ast.Constant), "made before it is logged"
                    yield name, str(call.args[0].value)


@pytest.mark.parametrize("guarded", [True, False])
def test_nobody_s_words_and_no_session_stand_in_an_entry_of_streamlit_s(
    guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a login a session's id is what lets somebody go on with it; some entries hold the half of one."""
    found, out = list(calls()), io.StringIO()
    assert len(found) > 60
    log_line.unguard()
    if guarded:
        log_line.guard()
        monkeypatch.setattr(logging.Logger, "callHandlers", log_line._call)  # as many as there are
    for name, said in found:
        log = logging.getLogger(name)
        count = len(re.findall(r"(?<!%)%[^%]", said))
        for sent in (WORDS, SESSION, SESSION[:8], {SESSION: 1}, raised(WORDS)):
            monkeypatch.setattr(log, "handlers", [logging.StreamHandler(out)])
            monkeypatch.setattr(log, "propagate", False)
            log.warning(re.sub(r"(?<!%)%[^%]", "%s", said), *[sent] * count)
        log.warning(raised(WORDS))
    log_line.unguard()
    text = out.getvalue()
    assert [one in text for one in (WORDS, SESSION, SESSION[:8])] == [not guarded] * 3
    assert "is already connected!" in text


@pytest.mark.parametrize("name", ["uvicorn.error", "asyncio", "dpcore"])
def test_no_session_stands_in_any_entry(name: str, written: io.StringIO) -> None:
    logging.getLogger(name).warning("PUT /_stcore/upload_file/%s/x of %s", SESSION, SESSION.upper())
    logging.getLogger(name).warning(f"{'x' * (LONGEST - 20)} {SESSION}")
    text = written.getvalue()
    check(text, 2)
    assert text.startswith(f"WARNING {name}: PUT /_stcore/upload_file/…/x of …\n")
    assert SESSION[:8] not in text


def test_what_the_standard_says_and_numbers_stay(written: io.StringIO) -> None:
    log = logging.getLogger("streamlit.runtime.app_session")
    log.warning("Error during authentication: %s. Error description: %s", "access_denied", WORDS)
    log.warning("%(size)d bytes of %(name)s", {"size": 7, "name": WORDS})
    lines = [line.partition(": ")[2] for line in written.getvalue().splitlines()]
    assert lines == ["Error during authentication: access_denied. Error description: …", "7 bytes of …"]


def test_a_failure_is_its_kind_and_its_places(written: io.StringIO) -> None:
    failure = raised(HOSTILE)
    for name in ("streamlit.runtime.app_session", "uvicorn.error", "asyncio", "dpcore"):
        logging.getLogger(name).error("Exception in ASGI application\n", exc_info=failure)
        logging.getLogger(name).warning("Failed to get it: %s", raised("forged"), stack_info=True)
    text = written.getvalue()
    check(text, 8)
    assert "ERROR uvicorn.error: Exception in ASGI application (ValueError at test_log_line.py:" in text
    assert "WARNING dpcore: Failed to get it: ValueError\n" in text


@pytest.mark.defects
def test_warnings_and_threads_pass_the_same_place(written: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)  # pytest has put its own in their place
        warnings.warn(HOSTILE, UserWarning, stacklevel=1)
        logging.captureWarnings(False)
    thread = threading.Thread(target=raising)
    before, threading.excepthook = threading.excepthook, log_line._of_a_thread
    thread.start()
    thread.join()
    threading.excepthook = before
    check(written.getvalue(), 2)
    assert "ValueError at" in written.getvalue()


def raising() -> None:
    raise ValueError(HOSTILE)


def test_without_it_somebody_could_write_entries(written: io.StringIO) -> None:
    """What shows that the tests above can fail."""
    log_line.unguard()
    logging.getLogger("uvicorn.error").warning("The fragment with id %s does not exist", HOSTILE.replace("\ud800", ""))
    assert "\n2026-11-23 03:59:59 epsilon-lab: forged \x1b[31m" in written.getvalue()


FLOODS = {
    "a part of a page that is none": ("streamlit.runtime.scriptrunner", logging.WARNING),
    "bytes that are no request": ("uvicorn.error", logging.WARNING),
    "a value that no page sends": ("dashboard.serving.failures", logging.INFO),
    "a run that fails each time": ("dpcore", logging.ERROR),
    "an answer that fails each time": ("uvicorn.error", logging.ERROR),
}


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize(("name", "level"), FLOODS.values(), ids=FLOODS)
def test_nobody_fills_the_log(guarded: bool, name: str, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many entries and then one a second, whatever is sent; errors are there while all else is in turn."""
    now, out = [0.0], io.StringIO()
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: now[0]))
    log = logging.getLogger(name)
    monkeypatch.setattr(log, "handlers", [logging.StreamHandler(out)])
    monkeypatch.setattr(log, "propagate", False)
    monkeypatch.setattr(log, "level", logging.INFO)
    log_line.unguard()
    if guarded:
        log_line.guard()
    for number in range(2_000):
        log.log(level, "sent %s", number)
    other = logging.WARNING if level >= logging.ERROR else logging.ERROR
    log.log(other, "another")
    now[0] += 1.5
    log.log(level, "the next")
    log_line.unguard()
    lines = out.getvalue().splitlines()
    assert lines[-2] == "another"
    kept = int(AHEAD) + 1
    assert len(lines) == (kept + 2 if guarded else 2_002)
    assert lines[-1] == (f"the next (left out before it: {2_000 - kept:,} entries)" if guarded else "the next")


@pytest.mark.parametrize("alike", [log_line.ALIKE, 1.0])
def test_an_error_again_and_again_takes_no_turn_of_another(alike: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has another reference; those of others stand on their pages, and would be looked for in vain."""
    monkeypatch.setattr(log_line, "ALIKE", alike)
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: 0.0))
    out, log = io.StringIO(), logging.getLogger("dpcore")
    monkeypatch.setattr(log, "handlers", [logging.StreamHandler(out)])
    monkeypatch.setattr(log, "propagate", False)
    log_line.unguard()
    log_line.guard()
    for _ in range(1_000):
        _logged("drawing a page", "KeyError", ["columns.py:150 _retype"])
    reference = _logged("drawing a page", "KeyError", ["columns.py:151 _retype"])
    held = log_line._of_its_kind.cache_info().currsize
    for number in range(1_000):
        _logged("drawing a page", "KeyError", [f"{number}.py"])
    assert log_line._of_its_kind.cache_info().currsize == log_line.KINDS
    log_line.unguard()
    assert (reference in out.getvalue()) is (alike < 1.0)
    assert out.getvalue().count("columns.py:150") == int(alike * AHEAD) + 1
    assert held == 2


@pytest.mark.parametrize(("text", "line"), [("", ""), ("\n\n", ""), ("a\tb", "a\\tb"), ("50 % of it", "50 % of it")])
def test_what_is_short_stays(text: str, line: str) -> None:
    record: Any = OneLine("name", logging.INFO, "path", 1, text, (), None)
    assert record.getMessage() == line
