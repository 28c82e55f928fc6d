"""Two kinds of value kept apart: what was declared, and rows behind a door that only requests open."""

from __future__ import annotations

import ast
import inspect
import math
import pickle
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, Schema, completed_from, read_csv, sample, sample_rows
from dpcore.datasets.declaration import shown
from dpcore.errors import InvalidArgument
from dpcore.grid import STEPS, nearest, on_grid, round_down, round_up
from dpcore.releases import catalog
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption
from tests.test_architecture import ROOT, imports, inside, module_name, reachable

WHO = Column(name="who", type="text")
WORD = Column(name="word", type="category", categories=("a", "b"))
DAY = Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 9))
READERS = (
    "conversion",
    "private_rows",
    "in_place",
    "table",
    "completion",
    "twin",
    "samples",
    "reading",
    "guessing",
    "catalog",
)


def file(**columns: list[str]) -> PrivateRows:
    return PrivateRows(pd.DataFrame(columns, dtype="str"))


def test_no_module_that_makes_requests_can_reach_what_reads_values() -> None:
    """Their imports are walked; and no way to make a request is handed rows."""
    starts = ["dpcore.datasets.declaration", *(module_name(path) for path in ROOT.glob("dpcore/releases/*.py"))]
    for path in set().union(*(reachable(start) for start in starts)):
        for name in imports(path):
            banned = tuple(f"dpcore.datasets.{reader}" for reader in READERS)
            assert not inside(name, *banned), f"{path.relative_to(ROOT)} imports {name}"
    for kind in catalog().values():
        for named, parameter in inspect.signature(kind.of).parameters.items():
            assert not any(word in str(parameter.annotation) for word in ("Rows", "Frame", "Table", "Array")), named
        assert "declaration" in inspect.signature(kind.of).parameters


def test_only_requests_open_the_door() -> None:
    """Nothing but dpcore/releases, and the audit that attacks it, calls ``opened`` or ``row_batches``, or looks at the
    frame behind them."""
    for path in [*ROOT.glob("dpcore/**/*.py"), *ROOT.glob("dashboard/**/*.py")]:
        here = path.relative_to(ROOT).as_posix()
        guarded = ("opened", "row_batches", "_behind", "OpenRows")
        doors = ("dpcore/datasets/private_rows.py", "dpcore/datasets/in_place/private.py")
        if here.startswith(("dpcore/releases/", "dpcore/audit/")) or here in doors:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(word in text for word in guarded) else ():
            assert not (isinstance(node, ast.Attribute) and node.attr in guarded), here


def test_private_rows_show_nothing() -> None:
    rows = file(word=["canary-7"])
    assert "canary" not in repr(rows) + str(rows)
    with pytest.raises(TypeError):
        len(rows)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pickle.dumps(rows)
    assert rows.has(["word"])
    assert not rows.has(["word", "day"])


def test_what_was_read_from_the_file_is_no_declaration() -> None:
    schema = completed_from(
        Schema(columns=(Column(name="x", type="number"), WORD)), pd.DataFrame({"x": ["1"], "word": "a"})
    )
    declaration = Declaration.of(schema)
    assert [column.name for column in declaration.columns] == ["word"]
    with pytest.raises(InvalidArgument, match="could give people in it away"):
        declaration.column("x")
    with pytest.raises(InvalidArgument, match="not read from the file"):
        Declaration(columns=schema.columns)
    with pytest.raises(InvalidArgument, match="columns"):
        Declaration.of(schema.only("x"))
    with pytest.raises(InvalidArgument, match="options are declared"):
        Declaration(columns=(Column(name="c", type="category"),)).bounded("c")
    for wrong in ({"people": 0}, {"id_column": "nobody"}, {"rows_per_person": 0}, {"hidden": "x"}):
        with pytest.raises(InvalidArgument):
            Declaration(columns=(WORD,), **wrong)  # type: ignore[arg-type]


def test_words_of_the_file_come_in_the_order_of_the_alphabet() -> None:
    """However they are given, and however often they occur: a twin that goes by their order tells nothing."""
    frame = pd.DataFrame({"w": ["c"] * 5 + ["a"] * 3 + ["b"]})
    read = completed_from(Schema(columns=(Column(name="w", type="category"),)), frame)
    assert read.column("w").categories == ("a", "b", "c")
    taken = Column(name="w", type="category", categories=("c", "a", "b"), words_from_file=True)
    assert taken.categories == ("a", "b", "c")
    assert replace(taken, words_from_file=False, categories=("c", "a", "b")).categories == ("c", "a", "b")
    asked = MostCommonOption.of(Declaration(columns=(taken,)), "w", epsilon=1.0)
    assert any("that a word occurs there is not hidden" in rule for rule in asked.rules)


def test_the_number_of_rows_is_public_where_nobody_changes_it() -> None:
    rows = file(word=["a", "b", "a"])
    declared = Declaration(columns=(WORD,))
    steps, options = replace(declared, each_row="step"), replace(declared, each_row="option")
    for public in (steps, options, replace(declared, hidden="replace_one")):
        assert rows.public_size(public) == 3
    named = Declaration(columns=(WORD, WHO), id_column="who", hidden="replace_one")
    for private in (declared, named, replace(declared, hidden="replace_one", rows_per_person=2)):
        with pytest.raises(InvalidArgument, match="private in number"):
            rows.public_size(private)
    text = replace(steps, columns=(replace(WORD, type="text", categories=()),))
    assert rows.public_names(text, "word") == ("1. a", "b", "3. a")
    with pytest.raises(InvalidArgument, match="entries of any other are private"):
        rows.public_names(steps, "word")
    with pytest.raises(InvalidArgument, match="private"):
        rows.public_names(declared, "word")


def test_records_without_anything_in_them_keep_their_place_in_time() -> None:
    """The Data page sets them aside; a release of steps must not move the others up."""
    for data in (b"a,b\n1,2\n,\n5,6\n,\n", b"a\n1\n\n5\n\n"):
        reading = read_csv(data, delimiter=",", header_rows=1, header_line=1, keep_footer=True)
        steps = Declaration(columns=(Column(name="a", type="number"),), each_row="step")
        assert reading.private.public_size(steps) == 4
        values = reading.private.opened(steps.reads("a")).numbers("a")
        assert values[:3].tolist()[::2] == [1.0, 5.0]
        assert np.isnan(values[[1, 3]]).all()
        people = replace(steps, each_row="record")
        assert reading.private.opened(people.reads("a")).rows == 2


def people(who: list[str], word: list[str], most: int) -> list[int]:
    declared = Declaration(columns=(WHO, WORD), id_column="who", rows_per_person=most)
    codes = file(who=who, word=word).opened(declared.reads("word")).codes("word")
    return np.bincount(codes, minlength=2).tolist()


def test_at_most_m_rows_of_each_person_stay() -> None:
    who = ["u"] * 7 + ["v"] * 2 + ["", "n/a"] + [" u "]
    for most, left in ((1, 2), (2, 4), (3, 5), (8, 10), (20, 10)):
        assert sum(people(who, ["a"] * 12, most)) == left


def test_people_are_counted_by_their_id_at_the_noise_of_one_row() -> None:
    declared = Declaration(columns=(WHO, WORD), id_column="who", rows_per_person=5)
    rows = file(who=["u", "u", "v", "", "w "], word=["a"] * 5)
    persons, records = NoisyCount.of(declared, epsilon=1.0, people=True), NoisyCount.of(declared, epsilon=1.0)
    assert (persons.read(rows), records.read(rows)) == (3, 4)
    assert (persons.scale, records.scale) == (1.0, 5.0)
    assert persons.what == "How many different “who” are there?"
    away = np.abs(np.arange(101) - 3)
    for beta in (0.3, 0.05):
        assert persons.law_of(3)[away > persons.error_bound(beta).number].sum() <= beta
    assert persons.law_of(40).sum() == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(InvalidArgument, match="people"):
        NoisyCount.of(replace(declared, id_column=None), epsilon=1.0, people=True)


def test_what_is_kept_of_a_person_depends_on_that_person_alone() -> None:
    """Other people, the order of the file and columns that are not read change nothing."""
    rng = np.random.default_rng(1)
    words = [str(word) for word in rng.choice(["a", "b"], 60)]
    alone = people(["u"] * 60, words, 5)
    order = rng.permutation(160)
    who, all_words = ["u"] * 60 + ["v"] * 100, words + ["b"] * 100
    mixed = people([who[place] for place in order], [all_words[place] for place in order], 5)
    assert [mixed[0], mixed[1] - 5] == alone


def test_which_rows_stay_does_not_depend_on_what_they_hold() -> None:
    """Of 3,000 people with one a and three b, one row each is kept: a quarter of them a, give or take 5 in 100."""
    who = [f"p{number}" for number in range(3000) for _ in range(4)]
    kept = people(who, ["b", "a", "b", "b"] * 3000, 1)
    assert sum(kept) == 3000
    assert abs(kept[0] / 3000 - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 3000)


def test_a_clock_time_falls_on_its_day() -> None:
    declared = Declaration(columns=(DAY,))
    days = file(day=["2024-01-02", "2024-01-02 23:59", "2024-01-02T00:00:01", "n/a", "1969-12-31 12:00"])
    found = days.opened(declared.reads("day")).days("day", replace(DAY, earliest=None, latest=None))
    assert found[0] == found[1] == found[2] == (date(2024, 1, 2) - date(1970, 1, 1)).days
    assert found[4] == -1
    assert found[3] < -(10**9)


def test_a_sample_s_rows_are_those_of_its_table() -> None:
    schema = sample("clinic").schema
    counts = MostCommonOption.of(Declaration.of(schema), "complaint", epsilon=1.0).read(sample_rows("clinic"))
    assert counts.sum() == 316
    with pytest.raises(InvalidArgument):
        sample_rows("clinic", path=Path("x.csv"))


def test_names_fit_into_sentences() -> None:
    assert shown("a\nb\t c\x07") == "a b c"
    assert len(shown("x" * 500)) == 60


def test_the_public_grid() -> None:
    """Ten numbers a decade, exact as they are written, on both sides of 0, and 0."""
    assert [round_up(value) for value in (0.131, 0.125, 1.0, 9.0, 0.0, -7.0, -0.9)] == [0.15, 0.15, 1, 10, 0, -6, -0.8]
    assert [round_down(value) for value in (0.131, 99.0, 0.0, -7.0)] == [0.12, 80, 0, -8]
    assert (nearest(46), nearest(4.4), nearest(-46)) == (50, 4, -50)
    for decade in range(-12, 13):
        for step in STEPS:
            number = float(f"{step}e{decade}")
            assert on_grid(number)
            assert on_grid(-number)
            assert round_up(math.nextafter(number, 0.0)) == number
            assert round_down(math.nextafter(number, math.inf)) == number
            assert round_up(math.nextafter(number, math.inf)) > number
    rng = np.random.default_rng(2)
    for value in rng.choice([-1, 1], 300) * 10.0 ** rng.uniform(-9, 9, 300):
        assert round_down(value) <= value <= round_up(value)
        assert on_grid(round_down(value))
        assert not on_grid(value)
    for wrong in (math.nan, math.inf, 1e200, 1e-200):
        with pytest.raises(InvalidArgument):
            round_up(wrong)
