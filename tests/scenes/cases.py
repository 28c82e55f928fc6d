"""Samples as cases that remember what was computed, so that many addresses about one sample cost little."""

from __future__ import annotations

from dataclasses import replace

from dashboard.background.memory import Memory
from dashboard.case import Case
from tests.questions.samples import sample_case

_MEMORY, _LARGE = Memory(3000), Memory(32)


def remembered(key: str, epsilon: float) -> Case:
    return replace(sample_case(key, epsilon), memo=_MEMORY, large=_LARGE)
