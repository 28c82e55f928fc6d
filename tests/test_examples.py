"""The examples in docstrings do what they show; every mechanism and every problem has one."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import dpcore
from dpcore import experts, selection, thresholding, training
from dpcore.experts import linear
from dpcore.tradeoff import Problem


def modules() -> list[ModuleType]:
    """Everything that can be imported without starting something."""
    names = [info.name for info in pkgutil.walk_packages(dpcore.__path__, "dpcore.")]
    return [importlib.import_module(name) for name in names if "__main__" not in name and ".migrations" not in name]


FINDER = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = [example for module in modules() for example in FINDER.find(module) if example.examples]


@pytest.mark.thorough
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_it_does_what_it_shows(example: doctest.DocTest) -> None:
    said: list[str] = []
    doctest.DocTestRunner().run(example, out=said.append)
    assert not said, "".join(said)


def test_every_mechanism_and_problem_has_one() -> None:
    shown = {example.name.rsplit(".", 1)[1] for example in EXAMPLES}
    catalogs = (selection.catalog(), thresholding.catalog(), experts.catalog(), linear.catalog(), training.catalog())
    named = {kind.__name__ for catalog in catalogs for kind in catalog.values()}
    named |= {kind.__name__ for kind in Problem.__subclasses__() if kind.__module__.startswith("dpcore.")}
    assert named - shown == set()


def test_a_wrong_example_would_be_noticed() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner().run(wrong, out=lambda text: None).failed == 1
