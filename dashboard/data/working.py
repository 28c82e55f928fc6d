"""What could be done to the table before it is declared: each step a sentence, taken by one click.

What a step reads all rows by, such as the sign between options, is stated with that click: nothing is filled in from
the cells, of which one could decide it for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard import all_held, limits, session, words
from dashboard.data import actions, naming, source
from dashboard.data.own_file import OwnFile
from dashboard.data.put_together import leaving_out
from dashboard.data.read_again import worked
from dashboard.data.task import Task, asking, counting
from dashboard.people import visitors
from dashboard.widgets.apart import apart
from dashboard.widgets.inputs import LONGEST_OPTIONS, text_box
from dashboard.words import columns as said
from dpcore.datasets import Fits, LeaveOutTotals, OneRowPer, Reading, Size, SplitOptions, Step
from dpcore.datasets.schema import Decimal
from dpcore.datasets.steps import SEPARATORS, ReadAsMissing

LONGEST = 400
"""Characters of a sentence, and of the options that are stated."""


def show_working(own: OwnFile) -> None:
    """Steps that were done and steps that the table seems to want; nothing where there are none."""
    if own.reading is None:
        return
    offered = [step for step in own.reading.suggested_steps if step not in own.steps and not _names_a_cell(own, step)]
    if not offered and not own.steps:
        return
    with st.container(border=True, gap="small"):
        st.markdown(f"**{said.STEPS}**")
        st.caption(said.STEPS_ABOUT)
        for place, step in enumerate(own.steps):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f":material/check: {words.safe(step.sentence, LONGEST)}", width="stretch")
                st.button(
                    said.STEP_BACK, key=f"own-step-back-{place}", on_click=actions.of(own, _take_back), args=(step,)
                )
        for place, step in enumerate(offered):
            with st.container(horizontal=True, vertical_alignment="center"):
                offer = step.plan if isinstance(step, SplitOptions | OneRowPer) else step.sentence
                st.markdown(f":material/arrow_forward: {words.safe(offer, LONGEST)}", width="stretch")
                if isinstance(step, SplitOptions):
                    _split(own, step, naming.about(f"own-step-{naming.named(step.column)}"))
                elif isinstance(step, OneRowPer) and step.of:
                    _of_numbers(own, step, f"own-step-{place}")
                else:
                    st.button(said.STEP_DO, key=f"own-step-{place}", on_click=actions.of(own, _take), args=(step,))


def _names_a_cell(own: OwnFile, step: Step) -> bool:
    """Whether a step would tell of a cell beyond what was declared of its column, where that is not told: one cell is
    enough for these to be suggested."""
    names = own.schema.names
    return (
        isinstance(step, ReadAsMissing | LeaveOutTotals)
        and step.column in names
        and own.columns.withheld(own.schema.column(step.column))
    )


def sign(key: str) -> None:
    """Which sign stands between the options of one cell: none is chosen until somebody states it."""
    st.segmented_control(
        said.SIGN, SEPARATORS, format_func=apart(SEPARATORS, words.safe), key=f"{key}-sign", help=said.SIGN_HELP
    )


def stated_sign(key: str) -> str | None:
    """The sign that was stated there; None, and a sentence that asks for it, where none was."""
    stated: str | None = session.entered(f"{key}-sign", None)
    if stated not in SEPARATORS:
        session.say("own", said.SAY_SIGN)
        return None
    return stated


def decimal_mark() -> Decimal:
    """What marks decimals in the file's cells, as it was stated of all of them; a point where nothing was."""
    own = source.own_file()
    return "." if own is None or own.reading is None else own.reading.stated_decimal or "."


def _of_numbers(own: OwnFile, step: OneRowPer, key: str) -> None:
    """One button for each way in which the numbers can be written."""
    with st.container(horizontal=True, width="content"):
        st.button(
            said.WITH_POINT, key=f"{key}-point", on_click=actions.of(own, _take), args=(replace(step, decimal="."),)
        )
        st.button(
            said.WITH_COMMA, key=f"{key}-comma", on_click=actions.of(own, _take), args=(replace(step, decimal=","),)
        )


def _split(own: OwnFile, step: SplitOptions, key: str) -> None:
    """Options that are to be counted in a private answer are stated, and so is how many of them one cell can name."""
    with st.popover(said.STEP_DO), st.form(f"{key}-form", border=False):
        sign(key)
        text_box(
            said.SPLIT_OPTIONS,
            key=f"{key}-options",
            most=LONGEST_OPTIONS,
            height=120,
            help=said.SPLIT_OPTIONS_HELP,
            lines=True,
        )
        st.number_input(said.SPLIT_MOST, key=f"{key}-most", value=None, min_value=1, max_value=200)
        st.form_submit_button(said.STEP_DO, key=f"{key}-go", on_click=actions.of(own, _take_split), args=(step, key))


def _take_split(step: SplitOptions, key: str) -> None:
    lines = [line.strip() for line in str(session.entered(f"{key}-options", "") or "").splitlines()]
    most: float | None = session.entered(f"{key}-most", None)
    options = tuple(dict.fromkeys(line for line in lines if line))
    separator = stated_sign(key)
    if separator is not None:
        bound = None if most is None else int(most)
        _take(replace(step, separator=separator, options=options, most=bound, decimal=decimal_mark()))


def _take(step: Step) -> None:
    own = source.own_file()
    if own is not None:
        do((*own.steps, step), said.step_taken(step.sentence))


def _take_back(step: Step) -> None:
    own = source.own_file()
    if own is not None:
        do(tuple(each for each in own.steps if each != step), said.step_taken_back(step.sentence))


def do(steps: tuple[Step, ...], note: str) -> None:
    """Have these steps done to the table as it was read, and no others."""
    present = source.own_file()
    if present is not None and len(steps) > len(present.steps):
        steps = (*steps[:-1], *leaving_out(steps[-1:], present.schema))

    def end(own: OwnFile, after: Reading) -> None:
        actions.commit(worked(own, after, steps).noted(note))

    beside(steps, end)


def beside(
    steps: tuple[Step, ...], end: Callable[[OwnFile, Reading], None], declared: Collection[str] = frozenset()
) -> None:
    """Do these steps to the table as it was read, beside the page as it can take a while; then ``end``. Columns that
    were ``declared``, and those that were before, are there though no row names them, where rows do.

    ``end(own, after)`` is given the file as it then is; it is not called where another file came in between, nor where
    the table after the steps would be more than this session may hold: then the file stays as it was, and that is said.
    """
    own = source.own_file()
    base = None if own is None else own.as_read
    if own is None or base is None:
        return

    def ended(task: Task) -> None:
        present = source.own_file()
        if task.problem is not None:
            session.say("own", task.problem or "Stopped.")
        elif present is not None and present.as_read is base:
            end(present, task.result)

    names = declared if own.reading is None else own.reading.stated.union(declared)
    fits, whose = limits.room(own.data, base, actions.weight(actions.before()), limits.limits()), visitors.address()
    actions.start(
        lambda say: _prepared(base, steps, names, asking(say, 0.5, said.DOING_STEP, fits), whose),
        said.DOING_STEP,
        ended,
    )


def _prepared(base: Reading, steps: tuple[Step, ...], names: Collection[str], fits: Fits, whose: str) -> Reading:
    """The table after these steps, with what the page asks of it worked out.

    Raises InvalidArgument, NoRoom, UnreadableFile.
    """
    with all_held.AtWork(whose) as work:
        work.takes(all_held.beside(base.frame))
        fits = counting(work, fits)
        after = all_held.note(base.after(steps, fits, names=names), whose)
        after.suggest(partial(fits, Size.of(after.frame)))
    return after
