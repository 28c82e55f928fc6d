"""One new file in each package is enough: in a copy of the engine it is found, tested by the contract and evaluated."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = (
    "dpcore",
    "pyproject.toml",
    "tests/__init__.py",
    "tests/contract",
    "tests/audit",
    "tests/training/conftest.py",
)

ABOUT = """About(
        name="Newcomer",
        plain="a stranger that came in one file",
        how="It is here to show that one file is enough, and does what another one does.",
        source="This test.",
        nearest="{nearest}",
    )"""
HEAD = """
from dataclasses import dataclass, replace
from typing import ClassVar
from dpcore.about import About
"""
SELECTION = (
    HEAD
    + """
from dpcore.selection.exponential import Exponential

@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer(Exponential):
    "Name candidate i with probability proportional to exp(a·score_i)."

    key: ClassVar[str] = "newcomer"
    rank: ClassVar[int] = 50
    about: ClassVar[About] = """
    + ABOUT.format(nearest="permute_and_flip")
    + """
    @classmethod
    def slopes(cls, epsilons, k, sensitivity, monotonic):
        return FACTOR * Exponential.slopes(epsilons, k, sensitivity, monotonic)
"""
)
EXPERTS = (
    HEAD
    + """
from dpcore.experts.batched import Batched

@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer(Batched):
    "Batched weighted majority that holds each play for two rounds."

    key: ClassVar[str] = "newcomer"
    rank: ClassVar[int] = 50
    about: ClassVar[About] = """
    + ABOUT.format(nearest="batched")
    + """
    hold: int | None = 2

    @property
    def rate(self):
        return FACTOR**5 * Batched.rate.fget(self)
"""
)
LINEAR = (
    HEAD
    + """
from dpcore.experts.linear.vertices import VertexExponential, expected_choice

@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer(VertexExponential):
    "Choose column i with probability ∝ exp(−(ε/4) × total cost of i)."

    key: ClassVar[str] = "newcomer"
    rank: ClassVar[int] = 50
    about: ClassVar[About] = """
    + ABOUT.format(nearest="vertex_permute_and_flip")
    + """
    def expected_choice(self, costs):
        return expected_choice(replace(self, epsilon=FACTOR * self.epsilon), costs)
"""
)
WAY = (
    HEAD
    + """
from dpcore.thresholding.accuracy import Design, exact_alpha
from dpcore.thresholding.noise import NoisePair

class Newcomer:
    "Two fifths of ε for the threshold."

    key: ClassVar[str] = "newcomer"
    rank: ClassVar[int] = 50
    about: ClassVar[About] = """
    + ABOUT.replace("nearest", "release").format(release="alarm")
    + """
    noise = "exponential"
    monotonic = False

    @classmethod
    def design(cls, k, limit, beta):
        pair = NoisePair.of(1.0, 1.0, cls.noise, 0.4, limit, cls.monotonic)
        return Design(share=0.4, offset=0.0, alpha=exact_alpha(pair, k, limit, beta) / FACTOR)
"""
)
TRAINING = (
    HEAD
    + """
from dpcore.accounting import Cost
from dpcore.training.output_perturbation import OutputPerturbation

@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer(OutputPerturbation):
    "Output perturbation under another name: the minimum with a ridge, and noise on its weights. Chaudhuri, Monteleoni \
and Sarwate, JMLR 2011; the guarantee is that of the class it is made from."

    key: ClassVar[str] = "newcomer"
    rank: ClassVar[int] = 50
    about: ClassVar[About] = """
    + ABOUT.format(nearest="noisy_gradient_descent")
    + """
    @property
    def cost(self):
        cost = OutputPerturbation.cost.fget(self)
        return replace(cost, epsilon=cost.epsilon / FACTOR)
"""
)
PLACES = {
    "selection": SELECTION,
    "experts": EXPERTS,
    "experts/linear": LINEAR,
    "thresholding/ways": WAY,
    "training": TRAINING,
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine and its contract tests, without this one."""
    target = tmp_path_factory.mktemp("engine")
    for name in COPIED:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            # caches of compiled loops come along: they are known by the time stamps, which stay
            shutil.copytree(
                ROOT / name,
                target / name,
                ignore=shutil.ignore_patterns(Path(__file__).name, "test_release_contract.py"),
            )
        else:
            shutil.copy2(ROOT / name, target / name)
    return target


def contract(copy: Path, factor: int, chosen: str = "newcomer") -> str:
    """What the contract tests say about the newcomers; ``factor`` above 1 breaks each in its own way."""
    for place, text in PLACES.items():
        (copy / "dpcore" / place / "newcomer.py").write_text(f"FACTOR = {factor}\n{text}", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/contract",
        "-k",
        chosen,
        "-rA",
        "--tb=line",
    ]
    plain = {
        name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"
    }  # to the end, whatever fails
    return subprocess.run(command, cwd=copy, env=plain, capture_output=True, text=True, check=False).stdout


@pytest.mark.thorough
def test_a_new_file_is_found_tested_and_evaluated(copy: Path) -> None:
    said = contract(copy, 1)
    assert "FAILED" not in said, said
    assert "ERROR" not in said, said
    passed = [line.split("::", 1)[1] for line in said.splitlines() if line.startswith("PASSED")]
    for name in (
        *("test_it_tells_about_itself", "test_no_neighbour_tells_more_than_epsilon", "test_the_problems_evaluate_it"),
        *("test_whole_runs_keep_the_promise", "test_one_choice_keeps_the_promise"),
        *("test_a_choice_has_the_mean_it_states", "test_a_way_costs_what_was_asked_and_keeps_it"),
        *("test_a_way_is_evaluated_by_the_problem", "test_every_method_learns_for_every_loss_it_names"),
        *("test_the_cost_is_what_was_asked", "test_the_problem_evaluates_it"),
    ):
        assert any(line.startswith(f"{name}[") for line in passed), name


@pytest.mark.thorough
def test_a_broken_file_is_found_out(copy: Path) -> None:
    telling = (
        *("test_no_neighbour_tells_more_than_epsilon", "test_whole_runs_keep_the_promise"),
        *("test_one_choice_keeps_the_promise", "test_a_way_s_accuracy_is_what_its_design_states"),
        "test_the_cost_is_what_was_asked",
    )
    said = contract(copy, 3, f"newcomer and ({' or '.join(telling)})")
    failed = [line.split("::", 1)[1] for line in said.splitlines() if line.startswith("FAILED")]
    for name in telling:
        assert any(line.startswith(f"{name}[") for line in failed), name
