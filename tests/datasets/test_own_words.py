"""What a reader says goes to a page and into the log in words of the program's own alone, and in numbers there are."""

from __future__ import annotations

import ast
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpcore
from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.apart import Apart, Most
from dpcore.datasets.apart import own as module
from dpcore.datasets.apart.own import ANOTHER, ELSEWHERE, Own, failure, own
from dpcore.defects import places_of
from dpcore.errors import Defect, InvalidArgument
from tests.datasets.cases import CASES
from tests.datasets.unruly import FORGED, SPOKEN, file

LIGHT = [case for case in CASES if not case.heavy]
OTHERS = (
    "[Log in again](https://evil.example/login).",
    "Log in again.",
    "The file is empty: Anna.",
    "The file is empty.\nThe file is empty.",
    "The file is empty.\u2028The file is empty.",
    "The file: see file.com",
    "The file: http://file",
    "The *file* is empty.",
    "The <b>file</b> is empty.",
    "The file has 1234567890123456 columns.",
    "The file is empty. " * 40,
)


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    made = Apart(Most(memory=120 << 20, seconds=60, waiting=60.0), also=["tests.datasets.unruly"])
    yield made
    made.close()


@pytest.mark.skipif(sys.platform != "linux", reason="there are no readers that are forked")
@pytest.mark.defects
@pytest.mark.parametrize("behaviour", SPOKEN)
def test_a_reader_says_nothing_in_words_of_its_own(
    behaviour: str, apart: Apart, caplog: pytest.LogCaptureFixture
) -> None:
    """It wrote lines into the log that looked like another's, and a link to log in onto the page."""
    said: list[str] = []
    with caplog.at_level(logging.DEBUG), pytest.raises((UnreadableFile, Defect)) as caught:
        read_table(file(behaviour), tables=apart.table_of, progress=lambda _, words: said.append(words))
    assert not apart.takes(behaviour.encode(), "tests.datasets.unruly:picture"), "nor does it raise anything"
    for told in (str(caught.value), *said, *caplog.messages):
        assert FORGED not in told
        assert "\n" not in told
        assert len(told) < 1_000


@pytest.mark.skipif(sys.platform != "linux", reason="there are no readers that are forked")
@pytest.mark.defects
def test_without_the_measure_it_would(
    apart: Apart, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The check above can fail."""
    monkeypatch.setattr(Own, "says", lambda *_: True)
    monkeypatch.setattr(Own, "place", lambda _, place: place)
    monkeypatch.setattr("dpcore.datasets.apart.apart.failure", lambda kind: kind)
    with pytest.raises(UnreadableFile, match="Log in again"):
        read_table(file("forges_a_sentence"), tables=apart.table_of)
    with pytest.raises(Defect):
        read_table(file("forges_a_failure"), tables=apart.table_of)
    assert "forged line" in caplog.text


@pytest.mark.parametrize("sentence", OTHERS)
def test_no_sentence_of_another_s_is_one_of_ours(sentence: str) -> None:
    assert not own().says(sentence)


@pytest.mark.thorough
def test_every_sentence_about_a_file_is_one_of_ours() -> None:
    """Whatever file of all kinds it is about: why it is not read, what is noticed, and how far the reading is."""
    found = set[str]()
    for case in LIGHT:
        try:
            read = read_table(case.make(), progress=lambda _, words: found.add(words))
        except UnreadableFile as error:
            found.add(str(error))
        else:
            found.update(notice.sentence for notice in read.report.notices)
    assert len(found) > 60
    assert [sentence for sentence in found if not own().says(sentence)] == []


def test_every_sentence_of_a_reader_s_code_is_one_of_ours() -> None:
    """With a number wherever something is filled in."""
    found = []
    for path in (Path(module.__file__).parents[1] / "reading").glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SAYS:
                found += [written(each) for each in (*call.args, *(word.value for word in call.keywords))]
    sentences = [each for each in found if each]
    assert len(sentences) > 60
    assert [sentence for sentence in sentences if not own().says(sentence)] == []


SAYS = {"UnreadableFile", "Notice", "say", "_about", "_aside"}


def written(said: ast.expr) -> str:
    if isinstance(said, ast.JoinedStr):
        return "".join(written(part) if isinstance(part, ast.Constant) else "7" for part in said.values)
    return said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""


def test_a_place_is_one_in_our_code_and_a_failure_one_that_there_is() -> None:
    try:
        read_table(b"a\n1\n", encoding="klingon")
    except InvalidArgument as error:
        places = [own().place(place) for place in places_of(error)]
    assert places[0] == ELSEWHERE, "a test's"
    assert "reader.py" in places[1]
    assert "decoding.py" in places[-1]
    for forged in (
        "reader.py:1987 Anna",
        "reader.py:999999 read_table",
        "Anna.py:1 read_table",
        f"{places[1]}\nAnna",
        "",
    ):
        assert own().place(forged) == ELSEWHERE
    assert failure("ZeroDivisionError") == "ZeroDivisionError"
    assert failure("PanicException") == "PanicException"
    assert failure("ArrowInvalid") == "ArrowInvalid"
    assert failure("Anna_1987") == ANOTHER
    assert Path(dpcore.__file__).parent in Path(module.__file__).parents


def test_an_argument_is_named_as_ours_are() -> None:
    assert own().names("header_rows")
    assert own().names("encoding")
    assert not own().names("Anna")
    assert not own().names("header rows")
