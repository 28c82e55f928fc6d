"""Where the computer has no memory left, pages close of the address that has most, and nobody else's."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from dashboard.serving import relief
from dashboard.serving.relief import EACH, FEW, Relief


class Places:
    """What is left of the memory: ``pages`` may be open before there is too little."""

    def __init__(self, pages: int, left: int = 0) -> None:
        self.pages, self.left_by_closed, self.open = pages, left, 0
        self.held, self.enough = Counter[str](), 0

    def short(self) -> bool:
        return self.open + self.left_by_closed > self.pages

    def empty(self) -> None:
        self.left_by_closed = 0


def opened(here: Relief, places: Places, visitor: str, number: int, gone: list[str]) -> list[Any]:
    def page(name: str) -> Any:
        async def send(message: Any) -> None:
            assert message == {"type": "websocket.close", "code": 1013}
            gone.append(name)
            places.open -= 1
            places.left_by_closed += 1

        places.open += 1
        return here.comes(visitor, send)

    return [page(f"{visitor}{at}") for at in range(number)]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relief, "APART", 0.01)


def test_the_latest_pages_close_of_whoever_has_most() -> None:
    async def go() -> tuple[list[str], Places]:
        places, gone = Places(70), list[str]()
        here = Relief(
            places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=places.enough.__int__
        )
        opened(here, places, "a", 10, gone)
        pages = opened(here, places, "b", 80, gone)
        await asyncio.sleep(0.3)
        assert len(gone) == len(set(gone)) == 40
        with pytest.raises(OSError, match="closed"):
            await pages[-1].send({"type": "websocket.send"})
        return gone, places

    gone, places = asyncio.run(go())
    assert set(gone) == {f"b{at}" for at in range(40, 80)}
    assert not places.short()


def test_what_closed_pages_left_goes_before_any_page_that_is_open() -> None:
    async def go() -> list[str]:
        places, gone = Places(60, left=30), list[str]()
        opened(
            Relief(
                places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=places.enough.__int__
            ),
            places,
            "b",
            50,
            gone,
        )
        await asyncio.sleep(0.2)
        assert not places.short()
        return gone

    assert asyncio.run(go()) == []


def test_whose_files_take_more_than_others_pages_has_most() -> None:
    """Else whoever fills the memory from a few pages would have a class closed that has many."""

    async def go() -> list[str]:
        places, gone = Places(100), list[str]()
        here = Relief(
            places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=places.enough.__int__
        )
        places.held["few"] = 1 << 30
        opened(here, places, "class", 100, gone)
        opened(here, places, "few", 3, gone)
        await asyncio.sleep(0.4)
        return gone

    assert sorted(asyncio.run(go())) == ["few0", "few1", "few2"]


def test_nobody_goes_for_what_others_hold_that_counts_for_none() -> None:
    """With connections that did not read somebody had a class closed, page by page, and nothing was won by it."""

    async def go() -> list[str]:
        places, gone = Places(0), list[str]()
        here = Relief(places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=lambda: 30 * EACH)
        opened(here, places, "class", 29, gone)
        opened(here, places, "other", 1, gone)
        await asyncio.sleep(0.3)
        assert not gone
        opened(here, places, "class", 1, gone)
        await asyncio.sleep(0.1)
        return gone

    assert asyncio.run(go())


def test_a_few_pages_stay_where_all_are_of_one_address() -> None:
    async def go() -> list[str]:
        places, gone = Places(0), list[str]()
        here = Relief(
            places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=places.enough.__int__
        )
        opened(here, places, "d", FEW + 2, gone)
        await asyncio.sleep(0.3)
        return gone

    assert sorted(asyncio.run(go())) == [f"d{FEW}", f"d{FEW + 1}"]


def test_it_is_watched_on_where_no_page_is_left_and_files_that_lie_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was short when its last page closed let nobody in again, who would have made it look."""

    async def go() -> list[str]:
        places, gone = Places(0, left=1), list[str]()

        def let_go() -> None:
            gone.append("files")
            places.pages = 5

        places.empty = lambda: None  # type: ignore[method-assign]
        here = Relief(
            places.short,
            places.empty,
            lambda: None,
            held=places.held.__getitem__,
            enough=places.enough.__int__,
            let_go=let_go,
        )
        here.watch()
        watch = here._watch
        assert watch is not None
        await asyncio.wait_for(watch, 5)
        assert here._watch is None
        return gone

    assert asyncio.run(go()) == ["files"]


def test_a_page_that_does_not_read_keeps_no_other_from_closing() -> None:
    async def go() -> list[str]:
        places, gone = Places(20), list[str]()
        here = Relief(
            places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=places.enough.__int__
        )

        async def never(_: Any) -> None:
            await asyncio.sleep(60)

        opened(here, places, "a", 30, gone)
        opened(here, places, "b", 2, gone)
        here.comes("a", never)
        await asyncio.sleep(0.3)
        return gone

    assert len(asyncio.run(go())) >= 12


def test_a_server_that_has_little_itself_leaves_it_to_others() -> None:
    """All replicas see that one group is short; a class at another than the one that is attacked was closed."""

    async def go(ours: bool) -> list[str]:
        places, gone = Places(0), list[str]()
        here = Relief(
            places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=int, ours=lambda: ours
        )
        opened(here, places, "a", 20, gone)
        opened(here, places, "b", 30, gone)
        await asyncio.sleep(0.2)
        return gone

    assert asyncio.run(go(True))
    assert not asyncio.run(go(False))


def test_nobody_watches_where_no_page_is_open() -> None:
    async def go() -> None:
        places = Places(100)
        here = Relief(
            places.short, places.empty, lambda: None, held=places.held.__getitem__, enough=places.enough.__int__
        )
        (page,) = opened(here, places, "a", 1, [])
        assert here._watch is not None
        watch = here._watch
        here.goes("a", page)
        await asyncio.wait_for(watch, 5)
        assert here._watch is None
        opened(here, places, "a", 1, [])
        assert here._watch is not None
        here._watch.cancel()

    asyncio.run(go())
