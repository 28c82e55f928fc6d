"""One new file is enough, all the way to the page: a mechanism in each package, a measure, a sample and a question."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from dashboard import catalogue
from tests.contract.test_one_file import PLACES, ROOT

COPIED = ("dpcore", "dashboard", "data", ".streamlit", "pyproject.toml", "tests/__init__.py", "tests/questions")
MEASURE = '''
"""How often the named option is not the worst."""

from typing import ClassVar

import numpy as np

from dpcore.tradeoff import Metric


class Newcomer:
    key: ClassVar[str] = "newcomer"
    rank: ClassVar[int] = 50
    metric: ClassVar[Metric] = Metric(
        key="newcomer", name="Chance of not being the worst", title="not the worst, in 100", better="higher",
        factor=100.0, share=True,
    )

    @staticmethod
    def of_law(law, judged):
        return 1 - law[:, -1]

    @staticmethod
    def promised(slopes, k, judged):
        return np.zeros_like(slopes)
'''
SAMPLE = '''
"""A sample that came in one file."""

import pandas as pd

from dpcore.datasets.entry import Sample
from dpcore.datasets.schema import Column, Schema


def load(request):
    rows = 400
    return pd.DataFrame(
        {
            "fruit": [["apple", "pear", "plum"][i * i % 7 % 3] for i in range(rows)],
            "age": [str(20 + i % 50) for i in range(rows)],
            "likes": ["yes" if i % 3 else "no" for i in range(rows)],
        }
    )


SAMPLES = (
    Sample(
        key="newcomer",
        title="A newcomer among samples (simulated)",
        about="Four hundred people and their fruit.",
        origin="Simulated in a test.",
        rows=400,
        simulated=True,
        why=(("selection", "Which fruit is liked most?"),),
        schema=Schema(
            columns=(
                Column(name="fruit", type="category", categories=("apple", "pear", "plum")),
                Column(name="age", type="integer", low=18, high=90),
                Column(name="likes", type="yes/no"),
            )
        ),
        load=load,
    ),
)
'''
QUESTION = '''
"""Is anybody older than a line?"""

from dataclasses import dataclass
from typing import ClassVar

from dashboard import words
from dashboard.blocks import Tab, Text
from dashboard.controls import Number
from dashboard.question import CannotAsk, Need, NoOffer, Question, Way
from dashboard.questions.selection.most_common import MostCommon
from dashboard.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    key: ClassVar[str] = "newcomer"
    title: ClassVar[str] = "A newcomer"
    rank: ClassVar[int] = 90
    once: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def ways(cls, schema):
        named = [column.name for column in schema.columns][:1]
        return [Way(form="newcomer", sentence="Is there a newcomer", sets={"question": cls.key}, about=tuple(named))]

    @classmethod
    def ask(cls, case, read):
        asked = MostCommon.ask(case, read)
        need = Number(key="newcomer_target", label="I need", default=95.0, low=1.0, high=99.0)
        read(need, "need")
        return Question(
            key="newcomer", sentence=("Is there a newcomer?",), headline="Yes.", caption="It came in one file.",
            view=asked.view, need=Need(control=need, found=None, waiting="Nothing to wait for."),
            protected=asked.protected, tabs=(Tab(key="a", title="A", blocks=lambda: [Text("Here.")]),),
            offer=NoOffer(sentence="A newcomer releases nothing."),
        )
'''
FILES = {
    **{f"dpcore/{place}/newcomer.py": f"FACTOR = 1\n{text}" for place, text in PLACES.items()},
    "dpcore/selection/measures/newcomer.py": MEASURE,
    "dpcore/datasets/catalog/newcomer.py": SAMPLE,
    "dashboard/questions/selection/newcomer.py": QUESTION,
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a copy of the product with one new file of each kind shows."""
    copy = tmp_path_factory.mktemp("product")
    (copy / "tests").mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__/*.pyc"))
        else:
            shutil.copy2(ROOT / name, copy / name)
    for name, text in FILES.items():
        (copy / name).write_text(text.lstrip(), encoding="utf-8")
    probe = copy / "tests" / "questions" / "extension_probe.py"
    run = subprocess.run([sys.executable, str(probe), str(copy)], cwd=copy, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    facts: dict[str, Any] = json.loads(run.stdout.strip().splitlines()[-1])
    return facts


@pytest.mark.thorough
def test_every_page_and_tab_opens_with_the_newcomers(found: dict[str, Any]) -> None:
    assert found["problems"] == []


@pytest.mark.thorough
def test_the_new_question_is_on_its_page(found: dict[str, Any]) -> None:
    assert found["pages"]["selection"][-1] == "newcomer"


@pytest.mark.thorough
def test_the_new_sample_is_offered(found: dict[str, Any]) -> None:
    assert "newcomer" in found["samples"]
    assert found["on_data_page"]


@pytest.mark.thorough
def test_the_new_measure_is_asked_for(found: dict[str, Any]) -> None:
    assert ["most_common", "selection_metric"] in found["measures"]


@pytest.mark.thorough
@pytest.mark.parametrize("question", ["most_common", "best_rule", "alarm", "follow", "fixed_choice", "predict"])
def test_a_new_mechanism_is_chosen_and_explained_on_its_page(found: dict[str, Any], question: str) -> None:
    assert question in [kind for kind, _ in found["methods"]]


def test_a_question_that_lacks_something_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Half:
        key = "half"
        title = "Half a question"
        rank = 1

    monkeypatch.setattr(catalogue, "discover", lambda package: {"half": Half})
    with pytest.raises(RuntimeError, match=r"the question Half in .* has no once, no ways, no ask"):
        catalogue.questions.__wrapped__("selection")
