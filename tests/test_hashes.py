"""No file that somebody brings takes the square of its rows: its words and numbers meet no hash without a key."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(
    [
        *ROOT.glob("dpcore/datasets/**/*.py"),
        *ROOT.glob("dpcore/releases/**/*.py"),
        *ROOT.glob("dashboard/data/**/*.py"),
        ROOT / "dashboard/questions/training/prepared_rows.py",
        *ROOT.glob("dpcore/thresholding/*.py"),
        ROOT / "dpcore/training/median.py",
        ROOT / "dpcore/selection/worlds.py",
    ]
)
HOME = "dpcore/datasets/different.py"
HASH = {
    *("factorize", "value_counts", "nunique", "isin", "drop_duplicates", "duplicated", "groupby", "get_dummies"),
    *("crosstab", "pivot_table", "merge", "is_in", "index_in", "dictionary_encode", "count_distinct", "in1d"),
    *("union1d", "setdiff1d", "setxor1d"),
}
"""What pandas, NumPy and Arrow do by hashes without a key."""
SORTS = {"return_index", "return_inverse", "return_counts"}
"""With one of these NumPy finds the different values by sorting."""
ALLOWED = {
    "dpcore/datasets/catalog/census.py": {"column.isin(['', 'nan', '<NA>'])": "among three words of ours"},
    "dpcore/datasets/guessing/numerals.py": {"np.isin(np.abs(values), _NINES)": "among a few numbers of ours"},
    "dpcore/datasets/guessing/plain_numbers.py": {"np.unique(values[found])": "only the numbers that are all nines"},
    "dpcore/datasets/guessing/words.py": {"raw.str.lower().isin(MISSING_WORDS)": "among a few words of ours"},
    "dpcore/datasets/importing/cells.py": {
        "np.isin(opened, outside)": "single bytes",
        "np.isin(closed, [*outside, ord('\\r')])": "single bytes",
    },
    "dpcore/datasets/reading/layout.py": {
        "words.iloc[brief].str.strip().str.rstrip(':. ').str.lower().isin(_TOTALS)": "among a few words of ours"
    },
    "dpcore/datasets/steps.py": {"series.groupby(places)": "by numbers that we gave, from 0 on"},
}
"""Where it is done all the same, and why it may be."""


def hashed(source: str) -> list[str]:
    """What a file does by hashes without a key, as it is written there."""
    tree = ast.parse(source)
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name):
                call = calls.get(id(node))
                given = {} if call is None else {word.arg: ast.unparse(word.value) for word in call.keywords}
                if (
                    name in HASH
                    or (name in {"unique", "mode"} and call is not None and not SORTS & set(given))
                    or (name in {"hash_array", "hash_pandas_object"} and given.get("categorize") != "False")
                    or (name == "Categorical" and call is not None and "categories" not in given)
                    or (name == "astype" and call is not None and "'category'" in map(ast.unparse, call.args))
                ):
                    found.append(ast.unparse(call or node))
            case ast.alias(name=name) | ast.Constant(value=str() as name) if name in HASH - {"merge"}:
                found.append(name)
    return found


def test_files_of_people_meet_no_hash_without_a_key() -> None:
    found = {path.relative_to(ROOT).as_posix(): hashed(path.read_text(encoding="utf-8")) for path in FILES}
    home = found.pop(HOME)
    assert len(found) > 150
    assert {name: calls for name, calls in found.items() if set(calls) != set(ALLOWED.get(name, ()))} == {}, (
        f"do it by {HOME}"
    )
    assert set(home) == {
        "pc.index_in(held, value_set=pa.array(few, pa.large_string()))",
        "pa.array(np.concatenate([_marks(part) for part in portions])).dictionary_encode()",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        'codes, words = pd.factorize(frame["a"])',
        "pc.value_counts(words(text))",
        'frame.groupby("person").size()',
        "cells.isin(others)",
        "for cell in cells.unique(): ...",
        "np.unique(values)",
        "pd.util.hash_array(names, hash_key=KEY)",
        "find = pc.index_in",
        "from pyarrow.compute import is_in",
        'getattr(pd, "factorize")(cells)',
        'cells.astype("category")',
        "pd.Categorical(cells)",
    ],
)
def test_one_that_does_is_found_out(wrong: str) -> None:
    assert hashed(wrong)


@pytest.mark.parametrize(
    "right", ["np.unique(values, return_inverse=True)", "shown.mode", "encoded(cells)", "{}.keys()", "named.unique"]
)
def test_what_sorts_or_has_a_key_is_not(right: str) -> None:
    assert not hashed(right)
