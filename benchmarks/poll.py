"""Rooms with a hundred phones: they join within 10 s and tap within 10 s while the speaker's pages go on.

Run as ``python -m benchmarks.poll``; once for each of what a room can do: vote, predict, and tap until an
alarm. A server is started as a person would, and every phone and the speaker speak the browser's own protocol over
127.0.0.1. Phones look every two seconds whether the speaker has moved on, and the speaker's page looks every second
how many are in, as their browsers do; meanwhile somebody walks the five-minute deck on the stage, a scene a second. A
*tap* is timed from the click to the end of the run that shows it; *joining* from the opened connection to the drawn
page; the speaker's *step* and the stage's *scene* from the click to the drawn page. The goals are seconds, as an
audience waits for them, on two cores that do nothing else; the ratio to a tap on the quiet server says how much of it
is the crowd. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.window import Window
from benchmarks.yardsticks import Goals

PHONES, SECONDS = 100, 10.0
TAP_MS, STEP_MS, JOIN_MS = 500.0, 1000.0, 2000.0
QUIET_TAPS = 20
FOLLOWED = 4.0
"""Seconds in which every phone has followed the speaker."""
SCENES = 8
Rng = np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What a room does: the link's kind, the form's numbers, the key of what opens it, and what is clicked then.

    Each of ``turns`` is what the phones tap, one of it after the other, and then the speaker. ``once`` says that a
    phone's tap stays, so that the quiet server is measured with the same one again.
    """

    kind: str
    opens: str
    begins: tuple[str, ...]
    turns: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    set: Mapping[str, float] = field(default_factory=dict)


VOTES, PREDICTIONS = ("poll-vote-0", "poll-vote-1"), ("poll-predict-0", "poll-predict-1")
PLAYS = (
    Play(
        kind="vote",
        opens="poll-open",
        begins=(),
        turns=((VOTES, ("poll-to-guess", "poll-to-forecast", "poll-draw")),),
    ),
    Play(
        kind="follow",
        opens="poll-follow-open",
        begins=("poll-start",),
        turns=((PREDICTIONS, ("poll-was-0",)), (PREDICTIONS, ("poll-was-1",))),
        set={"poll-follow-people": PHONES},
    ),
    Play(
        kind="watch",
        opens="poll-watch-open",
        begins=("poll-listen",),
        turns=((("poll-tap",), ()),),
        # a line out of reach: the alarm is silent, and listens as long as the phones tap
        set={"poll-watch-people": PHONES, "poll-watch-bar": 1000, "poll-watch-looks": 10},
    ),
)


@dataclass(slots=True)
class Found:
    """Seconds of everything that somebody waits for, by what it is."""

    quiet: list[float] = field(default_factory=list)
    join: list[float] = field(default_factory=list)
    tap: list[float] = field(default_factory=list)
    step: dict[str, float] = field(default_factory=dict)
    look: list[float] = field(default_factory=list)
    scene: list[float] = field(default_factory=list)
    looks: int = 0
    errors: int = 0


async def crowd(address: str, play: Play, stage: Window, rng: Rng) -> Found:
    """One room from its opening to its last answer."""
    found = Found()
    desk = Window(address, "poll", f"room={play.kind}")
    await desk.arrive()
    for key, number in play.set.items():
        await desk.type(key, number)
    await desk.click(play.opens)
    code = next(text.strip("` ") for text in reversed(desk.text) if len(text.strip("` ")) == 9 and "-" in text)
    quiet, *phones = (Window(address, "", f"join={code}") for _ in range(PHONES + 1))
    every = (desk, quiet, *phones)
    await quiet.arrive()

    async def join(phone: Window, after: float) -> None:
        await asyncio.sleep(after)
        found.join.append(await phone.arrive())

    async def tap(phone: Window, keys: tuple[str, ...], times: np.ndarray) -> None:
        start = time.perf_counter()
        for key, at in zip(keys, np.sort(times), strict=True):
            await asyncio.sleep(max(0.0, start + float(at) - time.perf_counter()))
            found.tap.append(await phone.click(key))

    async def step(key: str) -> None:
        found.step[f"{key} {len(found.step) + 1}"] = await desk.click(key)
        await asyncio.sleep(FOLLOWED)

    await asyncio.gather(
        *(join(phone, float(at)) for phone, at in zip(phones, rng.random(PHONES) * SECONDS, strict=True))
    )
    for key in play.begins:
        await step(key)
    for keys, steps in play.turns:
        await asyncio.gather(*(phone.until(keys[0]) for phone in (quiet, *phones)))
        seen = len(desk.looked)
        walking = asyncio.create_task(walk(stage, found.scene))
        await asyncio.gather(*(tap(phone, keys, rng.random(len(keys)) * SECONDS) for phone in phones))
        await walking
        found.look += desk.looked[seen:]
        if not found.quiet:
            found.quiet = [await quiet.click(keys[number % len(keys)]) for number in range(QUIET_TAPS)]
        for key in steps:
            await step(key)
    if not any(steps for _, steps in play.turns):
        await asyncio.sleep(FOLLOWED + SECONDS)  # the answer comes by itself
    for window in every:
        await window.leave()
    found.looks, found.errors = sum(len(window.looked) for window in every), sum(window.errors for window in every)
    return found


async def walk(stage: Window, found: list[float]) -> None:
    """A scene a second, to the end of the deck and from its start again."""
    for _ in range(SCENES):
        found.append(await stage.click("scene-next"))
        await asyncio.sleep(1.0)


async def all_rooms(address: str, goals: Goals) -> None:
    """Every kind of room, one after the other, on a server whose scenes have been shown once."""
    rng = np.random.Generator(np.random.PCG64(7))
    stage = Window(address, "", "present=five_minutes")
    await stage.arrive()
    await walk(stage, [])
    for play in PLAYS:
        tell(play, await crowd(address, play, stage, rng), goals)
    await stage.leave()


def tell(play: Play, found: Found, goals: Goals) -> None:
    quiet = 1e3 * float(np.median(found.quiet))
    print(f"{play.kind}: a tap on the quiet server: {quiet:.0f} ms; with the room: {1e3 * np.median(found.tap):.0f} ms")
    p95 = {name: 1e3 * float(np.percentile(getattr(found, name), 95)) for name in ("join", "tap", "scene")}
    print(f"  95 in 100 taps are {p95['tap'] / quiet:.1f} times a quiet one; meanwhile {found.looks:,} looks")
    goals.at_most("windows that failed", found.errors, 0)
    goals.at_most("ms: 95 in 100 taps", p95["tap"], TAP_MS)
    goals.at_most("ms: 95 in 100 phones have joined", p95["join"], JOIN_MS)
    goals.at_most("ms: 95 in 100 scenes on the stage, while phones tap", p95["scene"], STEP_MS)
    if found.look:
        goals.at_most("ms: the longest look of the speaker's page, while phones tap", 1e3 * max(found.look), STEP_MS)
    for key, took in found.step.items():
        goals.at_most(f"ms: the speaker's page, {key.removeprefix('poll-')}", 1e3 * took, STEP_MS)


def main() -> int:
    from tests.browser.server import running

    goals = Goals()
    print(f"{PHONES} phones join within {SECONDS:.0f} s, then tap within {SECONDS:.0f} s, in a room of each kind")
    with tempfile.TemporaryDirectory() as name, running(Path(name)) as server:
        asyncio.run(all_rooms(server, goals))
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"  the server took {spent.ru_utime + spent.ru_stime:.0f} s of a processor")
    return goals.end()


if __name__ == "__main__":
    sys.exit(main())
