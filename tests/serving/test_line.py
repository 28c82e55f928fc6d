"""Of those that share a pace it is the turn of whoever had theirs longest ago; by the order alone, without a clock."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from dashboard.serving import line
from dashboard.serving.line import Line
from dashboard.serving.pace import Pace


class Steps(Pace):
    """A pace at which there is time for one more whenever somebody has waited for it."""

    def __init__(self) -> None:
        super().__init__(1.0, 0.0)
        self.free = False

    def free_in(self, work: float) -> float:
        return 0.0 if self.free else 1.0

    def wait(self, work: float) -> float:
        self.free = False
        return 0.0


@pytest.fixture
def each(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """The pace of an address."""
    found = Steps()

    async def sleep(seconds: float) -> None:
        for _ in range(5):  # whoever was let through comes again
            await asyncio.sleep(0)
        found.free = True

    monkeypatch.setattr(line, "sleep", sleep)
    return found


def order(each: Steps, many: int, rounds: int) -> list[str]:
    """Who is let through, where many pages ask without end, and one asks once, has its turn, and again later."""
    found = list[str]()

    async def story() -> None:
        here = Line(each)
        places = {name: here.place(Pace(1e9, 1e9)) for name in ("who clicks", *map(str, range(many)))}

        async def again(name: str) -> None:
            for _ in range(rounds):
                await places[name].turn(1.0)
                found.append(name)

        async def clicks() -> None:
            for _ in range(2):
                while len(found) % (2 * many) != many - 1:
                    await asyncio.sleep(0)
                found.append("click")
                await places["who clicks"].turn(1.0)
                found.append("who clicks")

        async with asyncio.TaskGroup() as group:
            for name in map(str, range(many)):
                group.create_task(again(name))
            group.create_task(clicks())
        assert here.idle

    asyncio.run(story())
    return found


def waited(found: list[str]) -> list[int]:
    """For how many others who clicked waited, each time."""
    places = [place for place, name in enumerate(found) if name in ("click", "who clicks")]
    return [then - now - 1 for now, then in zip(places[::2], places[1::2], strict=True)]


def test_who_had_no_turn_for_long_waits_for_few_of_those_who_ask_without_end(each: Steps) -> None:
    found = order(each, 40, 8)
    _, later = waited(found)
    assert later <= 1
    turns = Counter(found[: 4 * 40])
    assert max(turns[str(one)] for one in range(40)) - min(turns[str(one)] for one in range(40)) <= 1


def test_in_the_order_in_which_they_came_they_would_wait_for_all(each: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the test above can fail."""
    monkeypatch.setattr(Line, "_first", lambda here: next(iter(here._waiting)))
    assert waited(order(each, 40, 8))[1] >= 30


def test_who_leaves_while_they_wait_keeps_nobody_waiting(each: Steps) -> None:
    async def story() -> None:
        here = Line(each)
        tasks = [asyncio.create_task(here.place(Pace(1e9, 1e9)).turn(1.0)) for _ in range(5)]
        await asyncio.sleep(0)
        for left in (tasks[0], tasks[2]):  # whose turn it is, and one that waits
            left.cancel()
        await asyncio.gather(tasks[1], tasks[3], tasks[4])
        assert here.idle

    asyncio.run(story())


def test_what_comes_by_itself_is_behind_whoever_waits(each: Steps) -> None:
    async def story() -> None:
        here = Line(each)
        first, other = here.place(Pace(1e9, 1e9)), here.place(Pace(1e9, 1e9))
        each.free = True
        assert not other.behind
        each.free = False
        task = asyncio.create_task(first.turn(1.0))
        await asyncio.sleep(0)
        assert other.behind
        await task

    asyncio.run(story())
