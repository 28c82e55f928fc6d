"""What every entry of the catalogue keeps, and how bad input is refused: one sentence that names the argument."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.thresholding import AboveThreshold, NumericSparse, Sparse, catalog, stop_laws
from dpcore.thresholding.problem import AlarmProblem

every = pytest.mark.parametrize("kind", list(catalog().values()), ids=list(catalog()))


def make(kind: type, **fields: Any) -> Any:
    names = {field.name for field in dataclasses.fields(kind)}
    given = {"epsilon": 1.0} | ({"limit": 1} if "limit" in names else {}) | fields
    return kind(**given)


def test_the_catalogue() -> None:
    """Mechanisms only: nothing broken, no problems, in the order pages show them."""
    assert catalog() == {"above_threshold": AboveThreshold, "sparse": Sparse, "numeric_sparse": NumericSparse}
    assert list(catalog()) == ["above_threshold", "sparse", "numeric_sparse"]


@every
def test_it_is_data_with_a_name(kind: type) -> None:
    assert catalog()[kind.key] is kind
    assert kind.label[0].isupper()
    assert kind.__doc__
    fields = {field.name: field.default for field in dataclasses.fields(kind)}
    assert {name: fields[name] for name in ("sensitivity", "noise", "threshold_share", "monotonic", "offset")} == {
        "sensitivity": 1.0,
        "noise": "laplace",
        "threshold_share": None,
        "monotonic": False,
        "offset": 0.0,
    }
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in inspect.signature(kind).parameters.values())
    mechanism = make(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.epsilon = 2.0
    assert not hasattr(mechanism, "__dict__")
    assert mechanism.cost == Cost.pure(1.0)


@every
def test_inputs_are_not_changed(kind: type) -> None:
    answers = np.array([3.0, 1.0, 2.0])
    answers.flags.writeable = False
    mechanism = make(kind)
    mechanism.stop_law(answers, 2.0)
    mechanism.sample(answers, 2.0, np.random.default_rng(1), 10)
    mechanism.error_rates(answers)


BAD_FIELDS = [
    ("epsilon", 0.0),
    ("epsilon", -1.0),
    ("epsilon", np.nan),
    ("epsilon", np.inf),
    ("epsilon", "1"),
    ("epsilon", 1e-300),
    ("sensitivity", 0.0),
    ("sensitivity", np.inf),
    ("noise", "gaussian"),
    ("threshold_share", 0.0),
    ("threshold_share", 1.0),
    ("threshold_share", "half"),
    ("monotonic", 1),
    ("offset", np.nan),
    ("limit", 0),
    ("limit", 1.5),
    ("limit", -3),
    ("value_share", 1.0),
]
WRONG = [
    (kind, field, value)
    for kind in catalog().values()
    for field, value in BAD_FIELDS
    if field in {f.name for f in dataclasses.fields(kind)}
]


@pytest.mark.parametrize(("kind", "field", "value"), WRONG, ids=lambda part: getattr(part, "key", repr(part)))
def test_parameters_are_checked(kind: type, field: str, value: Any) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        make(kind, **{field: value})
    assert refusal.value.argument == field


BAD_SERIES = [
    ("no queries", [], 1.0, "answers"),
    ("a missing value", [1.0, np.nan], 1.0, "answers"),
    ("an infinite value", [1.0, np.inf], 1.0, "answers"),
    ("words", ["many", "few"], 1.0, "answers"),
    ("nothing", None, 1.0, "answers"),
    ("a table", [[1.0, 2.0]], 1.0, "answers"),
    ("too large", [1e300], 1.0, "answers"),
    ("no threshold", [1.0, 2.0], None, "threshold"),
    ("a threshold that is no number", [1.0, 2.0], "high", "threshold"),
    ("a missing threshold", [1.0, 2.0], np.nan, "threshold"),
    ("an infinite threshold", [1.0, 2.0], -np.inf, "threshold"),
]


@every
@pytest.mark.parametrize(
    ("answers", "threshold", "argument"), [c[1:] for c in BAD_SERIES], ids=[c[0] for c in BAD_SERIES]
)
def test_series_are_checked(kind: type, answers: Any, threshold: Any, argument: str) -> None:
    mechanism, rng = make(kind), np.random.default_rng(1)
    for attempt in (
        lambda: mechanism.stop_law(answers, threshold),
        lambda: mechanism.sample(answers, threshold, rng, 5),
        lambda: stop_laws(AboveThreshold(epsilon=1.0), [1.0], answers, threshold),
        lambda: AlarmProblem(answers=answers, threshold=threshold),
    ):
        with pytest.raises(InvalidArgument) as refusal:
            attempt()
        assert refusal.value.argument == argument
        message = str(refusal.value)
        assert "\n" not in message
        assert "1e+300" not in message  # no value of the data in it


def test_more_alarms_than_answers() -> None:
    for attempt in (
        lambda: Sparse(epsilon=1.0, limit=3).alarm_law([1.0, 2.0], 1.0),
        lambda: NumericSparse(epsilon=1.0, limit=3).sample([1.0, 2.0], 1.0, np.random.default_rng(1), 5),
        lambda: AlarmProblem(answers=[1.0, 2.0], threshold=1.0, limit=3),
    ):
        with pytest.raises(InvalidArgument, match="limit must be at most the number of answers"):
            attempt()


def test_outcomes_that_cannot_be() -> None:
    mechanism = Sparse(epsilon=1.0, limit=2)
    for alarms in ([0, 1, 2], [1, 0], [1, 1], [-1], [7]):
        with pytest.raises(InvalidArgument):
            mechanism.log_probability([1.0, 2.0, 3.0], 1.0, alarms)
    with pytest.raises(InvalidArgument):
        AboveThreshold(epsilon=1.0).log_probability([1.0], 1.0, 3)
    with pytest.raises(InvalidArgument):
        NumericSparse(epsilon=1.0, limit=1).log_density([1.0], 1.0, [0], [])


@every
def test_one_query_is_enough(kind: type) -> None:
    law = make(kind).stop_law([2.0], 1.0)
    assert law.shape == (2,)
    assert law.sum() == pytest.approx(1)


def test_a_million_queries_are_answered() -> None:
    answers = np.zeros(10**6)
    law = AboveThreshold(epsilon=1.0).stop_law(answers, 50.0)
    assert law.shape == (10**6 + 1,)
    assert law.sum() == pytest.approx(1)
    with pytest.raises(InvalidArgument, match="too large"):
        Sparse(epsilon=1.0, limit=1000).alarm_law(answers, 50.0)


def test_simulations_take_a_generator_and_a_size() -> None:
    mechanism = AboveThreshold(epsilon=1.0)
    with pytest.raises(InvalidArgument, match="rng"):
        mechanism.sample([1.0], 1.0, 7, 5)
    with pytest.raises(InvalidArgument, match="size"):
        mechanism.sample([1.0], 1.0, np.random.default_rng(1), 0)


def test_listing_the_mechanisms_loads_no_compiler() -> None:
    """Importing the package and its catalogue stays quick; the compiled loops load when a law is first asked for."""
    code = (
        "import sys; from dpcore.thresholding import catalog; catalog();"
        "print([m for m in ('numba', 'scipy.optimize', 'scipy.stats', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
