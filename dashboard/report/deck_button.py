"""The button by which a deck goes on paper: its scenes are asked again beside the page, and written as one report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.background.held import JOBS
from dashboard.budget import tracker
from dashboard.case import Case, Source, known
from dashboard.data import source as data
from dashboard.report import again, held, panel
from dashboard.report.of_deck import (
    LeftOut,
    OwnFile,
    Piece,
    Simulated,
    Told,
    Waiting,
    sample_of,
    section_of,
    section_with,
    shortened,
    simulated,
)
from dashboard.report.value import LONGEST, Section
from dashboard.scenes.deck import Deck
from dashboard.scenes.editor import case_of
from dashboard.view import EPSILON_DEFAULT
from dashboard.widgets.waiting import Running, begin
from dashboard.words import report as said


def deck_report(deck: Deck, name: str) -> None:
    """The button. ``name`` tells decks apart on a page; nothing is asked before the button is clicked."""
    key = f"deck-{name[:40]}"
    menu = st.popover(
        said.BUTTON,
        icon=":material/description:",
        type="tertiary",
        help=said.DECK_HELP,
        key=f"{key}-report",
        on_change="rerun",
    )
    if not menu.open:
        return
    with menu:
        title = f"{key}-title"
        _sections(deck, key, title)
        panel.title_page(key, deck.title, title=title)


def _sections(deck: Deck, key: str, title: str) -> None:
    """The scenes as far as they are asked, and the report's files once they all are."""
    wanting = sum(scene.address.own for scene in deck.scenes)
    own = _own_file() if wanting else None
    if wanting and own is None:
        st.caption(said.files_missing(wanting))
    told = [Told(number=number, scene=scene, delta=_delta(sample_of(scene)))
            for number, scene in enumerate(deck.scenes, 1)]  # fmt: skip
    about = "" if own is None else f"{own.source.table.fingerprint}{own.values!r}{own.delta!r}"
    digest = hashlib.sha256(f"{told!r}{about}".encode("utf-8", "backslashreplace")).hexdigest()

    def stage(
        name: str,
        work: Callable[[Any, Any], Any],
        common: Callable[[], Any],
        parts: Sequence[Any],
        *,
        what: str,
        scene: int = 0,
    ) -> Running:
        return begin(
            f"{key}-{name}",  # several decks of a page may be asked for at once
            ("report of a deck", name, digest, scene),
            work,
            common,
            lambda: parts,
            what=what,
            own=own is not None,
            far=work is simulated,
            enough=lambda found: len(found) == len(parts),
        )

    scenes = stage("scenes", section_of, lambda: own, told, what=said.DECK_MAKING)
    if not scenes.job.complete:
        _wait(scenes)
        return
    results, drawn = scenes.job.results(), held.drawn(digest)

    def simulated_and_drawn(at: int, pieces: tuple[Piece, ...]) -> bool:
        """Whether a scene that waited is there by now; it is shown how far it is, else."""
        what = said.simulating_scene(at + 1)
        simulating = stage("simulated", simulated, lambda: own, pieces, what=what, scene=at)
        if not simulating.job.complete:
            _wait(simulating)
            return False
        found = Simulated(own=own, pieces=pieces, found=tuple(simulating.job.results()))
        drawing = stage("drawn", section_with, lambda: found, [told[at]], what=said.DECK_DRAWING, scene=at)
        if not drawing.job.complete:
            _wait(drawing)
            return False
        (drawn[at],) = drawing.job.results()
        JOBS.once().forget(simulating.key)
        return True

    # one scene after the other, so that what was simulated for it is let go of before the next
    waiting = ((at, one.pieces) for at, one in enumerate(results) if isinstance(one, Waiting) and at not in drawn)
    if all(simulated_and_drawn(at, pieces) for at, pieces in waiting):
        _written([drawn.get(at, one) for at, one in enumerate(results)], deck, key, title)


def _wait(running: Running) -> None:
    """Show how far it is; the page is drawn anew once it is over."""

    def draw() -> None:
        running.progress(lambda: None)

    running.live(draw)


def _written(results: Sequence[Section | LeftOut], deck: Deck, key: str, title: str) -> None:
    for one in results:
        if isinstance(one, LeftOut):
            st.caption(words.safe(one.why, 300))
    sections = shortened([one for one in results if isinstance(one, Section)][:LONGEST])
    if not sections:
        st.caption(said.NO_SCENE)
        return
    panel.write(sections, key, deck.title, title=title)


def _delta(sample: str | None) -> float:
    """The δ that a release about a sample would ask for, as on its page."""
    return 0.0 if sample is None else tracker.usual_delta(case_of(sample, EPSILON_DEFAULT).source)


def _own_file() -> OwnFile | None:
    """The file that this person holds, as its pages show it."""
    source: Source | None = data.held()
    if source is None:
        return None
    counted = source.rows is not None and source.table.schema.each_row != "record"
    lines = Case(source=source, epsilon=EPSILON_DEFAULT).lines if counted else None
    rows = None if source.rows is None else again.closed
    closed = replace(source, rows=rows, join=known, count=None, lines=lines)
    return OwnFile(
        source=closed, values=session.unlinked(), data=panel.data_code(source), delta=tracker.usual_delta(source)
    )
