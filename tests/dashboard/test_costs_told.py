"""What an answer costs never reads as less than is charged for it: also in rooms, before anybody votes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dashboard
from dashboard.words import live, number, poll
from dpcore.releases.teams import plays_epsilon, team_rate

NEAREST = {"number", "written"}
"""What writes three digits, the last one to nearest."""
SAYS = re.compile(r"\bcosts?\b[^.:]*ε = \**$")
LEVELS = (0.12345, 0.50049, 1.0, 1.2349, 2.35481, 4.0041)
TOLD: dict[str, Callable[[float], str]] = {
    "poll": poll.cost,
    "watch": live.watch_cost,
    "follow": lambda epsilon: live.follow_cost(epsilon, epsilon),
    "follow, less": lambda epsilon: live.follow_cost(epsilon / 2, epsilon),
}


def levels_of(told: str) -> list[float]:
    return [float(one) for one in re.findall(r"ε = ([0-9]+(?:\.[0-9]+)?)", told)]


def told_less(told: str, *levels: float) -> bool:
    """Whether one of these reads as less than it is."""
    said = levels_of(told)
    assert len(said) == len(levels)
    return any(one < level * (1 - 1e-12) for one, level in zip(said, levels, strict=True))


@pytest.mark.parametrize("room", TOLD)
@pytest.mark.parametrize("epsilon", LEVELS)
def test_a_room_is_told_no_less_than_it_is_charged(room: str, epsilon: float) -> None:
    assert not told_less(TOLD[room](epsilon), *((epsilon / 2, epsilon) if room == "follow, less" else (epsilon,)))


def test_nor_of_any_number_of_phones_teams_and_rounds() -> None:
    for phones in range(6, 61, 3):
        for teams in (2, 3, 4):
            for rounds in range(3, 13):
                size = {"rounds": rounds, "phones": phones, "teams": teams}
                spent = plays_epsilon(team_rate(1.0, **size), **size)
                told = live.follow_cost(spent, 1.0)
                assert not told_less(told, *([spent, 1.0][: len(levels_of(told))])), size


def to_nearest(source: str) -> Iterator[int]:
    """The lines that write what something costs as the nearest number."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            before = ""
            for part in node.values:
                if isinstance(part, ast.Constant):
                    before += str(part.value)
                elif isinstance(part, ast.FormattedValue):
                    made = part.value.func if isinstance(part.value, ast.Call) else None
                    name = getattr(made, "attr", getattr(made, "id", ""))
                    if name in NEAREST and SAYS.search(before):
                        yield part.lineno
                    before += "…"


def test_no_sentence_writes_a_cost_as_the_nearest_number() -> None:
    root = Path(dashboard.__file__).parent
    found = [(path.name, line) for path in root.rglob("*.py") for line in to_nearest(path.read_text())]
    assert found == []


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (live, poll):
        monkeypatch.setattr(module, "amount", number)
    assert {room for room, tell in TOLD.items() if levels_of(tell(2.35481))[-1] < 2.35481} == set(TOLD)
    assert [*to_nearest("f'{a} plays cost ε = **{number(b)}**. At ε = {number(c)}.'")] == [1]
