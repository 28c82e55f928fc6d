"""Whatever words are declared: a source is asked for them, or refuses before anything is charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace, PrivateSource
from dpcore.errors import ReleaseRefused, UnreadableFile
from dpcore.ledger import Ledger
from dpcore.release import release
from dpcore.releases.asked import Asked
from dpcore.releases.count import NoisyCount
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, MostCommonOption
from tests.datasets.test_in_place_blanks import in_duckdb, in_folder, in_lines, in_postgresql, in_sqlite

WORDS = (
    *("%(x)s", "%s", "%%", ":x", "?", "$1", "{x}", "'", "''", '"', "\\", "\\'", "\\x41", "--", "/*", ";"),
    *("__[POSTCOMPILE_a]", "[POSTCOMPILE_a]", "__[POSTCOMPILE_a~~b~~c]", "x COLLATE y", "a\nb", "\\N", "SELECT * "),
    *("\x01", "\x7f", "ä", "\ud7ff", "\U0010ffff"),
)
"""Signs that stand for something else in SQL, or in what writes it."""
WHO, ILL = Column(name="who", type="text"), Column(name="ill", type="yes/no")


def rows(word: str) -> pd.DataFrame:
    cells = [("anna", "North", "yes"), ("ben", word, "no"), ("cleo", word, "yes")]
    return pd.DataFrame(cells, columns=["who", "ward", "ill"], dtype="str")


def asked_with(word: str) -> Iterator[Asked]:
    """Questions that name a word as an option, as a missing one, and as yes."""
    ward = Column(name="ward", type="category", categories=("North", word), missing_words=("",))
    fewer = Column(name="ward", type="category", categories=("North", "Süd"), missing_words=("", word))
    nobody = replace(WHO, missing_words=("", word))
    says_yes = Column(name="ward", type="yes/no", yes_words=(word,), no_words=("no",), missing_words=("",))
    yield MostCommonOption.of(Declaration(columns=(ward,)), "ward", epsilon=1.0)
    yield MostCommonOption.of(Declaration(columns=(fewer,)), "ward", epsilon=1.0)
    yield MostCommonOption.of(Declaration(columns=(says_yes,)), "ward", epsilon=1.0)
    whose = Declaration(columns=(ward, ILL, nobody), id_column="who")
    yield MostCommonOption.of(whose, "ward", epsilon=1.0)
    yield NoisyCount.of(whose, epsilon=1.0)
    yield BestRule.of(whose, ["ward"], target="ill", epsilon=1.0)
    yield ScaledModel.of(whose, target="ill", columns=["ward"], epsilon=1.0, delta=1e-6)


def of(stored: InPlace) -> PrivateSource:
    return PrivateSource(lambda: stored)


def answered_or_free(make: Callable[[str], InPlace], words: tuple[str, ...] = WORDS) -> None:
    """Each question is answered of no row, and of the rows themselves, as it is asked: by the same query."""
    for word in words:
        source = of(make(word))
        for asked in asked_with(word.strip() or word):
            asked.probe(source)
            asked.read(source)
        once = next(asked_with(word.strip()))
        if "\n" not in word:
            assert once.read(source).tolist() == [1, 2], word


@pytest.mark.thorough
@pytest.mark.parametrize("make", [in_folder, in_duckdb, in_sqlite])
def test_any_word_can_be_declared(make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path) -> None:
    def made(word: str) -> InPlace:
        (at := tmp_path / str(WORDS.index(word))).mkdir()
        return make(at, rows(word))

    answered_or_free(made)


@pytest.mark.thorough
def test_words_that_mean_something_to_what_writes_a_query(tmp_path: Path) -> None:
    def made(word: str) -> InPlace:
        (at := tmp_path / str(WORDS.index(word))).mkdir()
        return in_folder(at, rows(word))

    answered_or_free(made, ("__[POSTCOMPILE_a]", "x COLLATE y", "\\x41"))


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


@pytest.mark.thorough
def test_any_word_can_be_declared_for_postgresql(server: PrivateServer) -> None:
    answered_or_free(lambda word: in_postgresql(server.new_schema(), rows(word)))


@pytest.mark.parametrize("make", [in_folder, in_lines, in_sqlite])
def test_a_word_with_a_zero_byte_is_refused_before_the_charge(
    make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path
) -> None:
    source = of(make(tmp_path, rows("West")))
    with Ledger.open("sqlite:///:memory:") as ledger:
        ledger.open_budget("people-1", epsilon=9.0, delta=1e-3)
        for at, asked in enumerate(asked_with("a\0b")):
            with pytest.raises(ReleaseRefused, match="zero byte"):
                release(ledger, str(at), "people-1", asked, source)
        assert ledger.budget("people-1").remaining.epsilon == 9.0


@pytest.mark.parametrize("at", range(7))
def test_what_a_source_cannot_be_told_is_refused_before_the_charge(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very query is written first, of no row."""
    stored = in_sqlite(tmp_path, rows("West"))
    ask = stored.select

    def fails(query: object) -> list[tuple[object, ...]]:
        if "GROUP BY" in str(query) or "count(" in str(query) or "row_number" in str(query):
            raise UnreadableFile("The source does not know this.")
        return ask(query)  # type: ignore[arg-type]

    def falls(query: object, size: int) -> Iterator[object]:
        raise UnreadableFile("The source does not know this.")

    broken = replace(stored, select=fails, stream=falls)
    with Ledger.open("sqlite:///:memory:") as ledger:
        ledger.open_budget("people-1", epsilon=9.0, delta=1e-3)
        with pytest.raises(UnreadableFile, match="does not know"):
            release(ledger, "one", "people-1", list(asked_with("West"))[at], of(broken))
        assert ledger.budget("people-1").remaining.epsilon == 9.0
