"""Those who want all places that they get leave one for whoever comes, however many pages each of them has."""

from __future__ import annotations

import pytest

from dashboard.background.places import EACH, HEAVIEST, MOST, Places, Script, Visitor
from dashboard.serving.messages import RUNS_EACH


class Filled:
    """Places for which some addresses ask without end; what began, by address."""

    def __init__(self, addresses: int, *, by_turns: bool) -> None:
        self.places = Places(clock=lambda: 0.0)
        self.began: list[Script] = []
        named = [f"192.0.2.{who}" for who in range(addresses)]
        for address in named * 10 if by_turns else [one for one in named for _ in range(10)]:
            self.asks(address)
        for script in list(self.began):  # each ends, and others of its address wait
            self.places.ended(script)
            self.began.remove(script)

    def asks(self, address: str) -> Script:
        script = Script(visitor=Visitor(address), page=object(), begin=lambda: self.began.append(script))
        self.places.wait(script)
        return script


@pytest.mark.parametrize("by_turns", [True, False])
@pytest.mark.parametrize("addresses", range(1, MOST))
def test_whoever_comes_has_a_place_at_once(addresses: int, *, by_turns: bool) -> None:
    filled = Filled(addresses, by_turns=by_turns)
    assert len(filled.began) >= min(addresses + 2, MOST - 1), "the others are at work"
    assert filled.asks("198.51.100.1") in filled.began


def test_where_as_many_as_there_are_places_ask_they_have_them_all() -> None:
    """What shows that the test above can fail."""
    filled = Filled(MOST, by_turns=False)
    assert filled.asks("198.51.100.1") not in filled.began


def test_one_alone_has_no_more_than_its_places() -> None:
    assert len(Filled(1, by_turns=False).began) == EACH


def test_runs_of_seconds_are_paced_by_what_they_take() -> None:
    """An address takes no more of the processor by few costly runs than by many usual ones."""
    costly, usual = Visitor("192.0.2.1"), Visitor("192.0.2.2")
    costly.took(2.0)
    usual.took(0.02)
    a_second = [RUNS_EACH / one.weight() * seconds for one, seconds in ((costly, 2.0), (usual, 0.02))]
    assert a_second[0] == pytest.approx(a_second[1], rel=0.01)
    assert costly.weight() < HEAVIEST
