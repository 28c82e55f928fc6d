"""What the Data page's controls do to this session's own file. Callbacks, and the end of work that took longer."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

import numpy as np

from dashboard import all_held, limits, session, words
from dashboard.budget import drawn
from dashboard.case import OWN
from dashboard.data import naming, remembered, source
from dashboard.data.decisions import Decisions
from dashboard.data.held import (
    DECLARATIONS,
    DECLARED,
    LOADED_SAMPLES,
    OWN_BEFORE,
    OWN_COLUMNS,
    OWN_CONFIRMED,
    OWN_END,
    OWN_LOOKED,
    OWN_PENDING,
    OWN_READ,
    OWN_SOURCE,
    OWN_TAKEN,
    OWN_TASK,
    SAVED,
)
from dashboard.data.own_file import OwnFile, TwinPlan
from dashboard.data.task import Say, Task
from dashboard.people import visitors
from dashboard.words import data as said
from dashboard.words import login as login_said
from dpcore.datasets import Schema, Table, twin
from dpcore.errors import InvalidArgument, UnreadableFile

LITTLE_DECLARED = 100_000
"""Bytes of what a session declares that do not count."""
PATIENCE = 0.4
"""Seconds a click waits for its work before a progress bar takes over."""
BESIDE = 100
"""Bytes for each row of a twin while it is made up, column by column."""
P = ParamSpec("P")


def of(own: OwnFile | None, do: Callable[P, None]) -> Callable[P, None]:
    """``do`` as the callback of a control that is drawn for the table ``own``: each on the Data page is made so.

    A file that was being read takes its place before the browser shows that. Then a sentence says so, and nothing that
    was said of the one counts for the other.
    """
    table = _table(own)

    @wraps(do)
    def clicked(*args: P.args, **kwargs: P.kwargs) -> None:
        if _table(source.own_file()) == table:
            do(*args, **kwargs)
        else:
            session.say("own", said.CHANGED_MEANWHILE)

    clicked.table = table  # type: ignore[attr-defined]
    return clicked


def _table(own: OwnFile | None) -> str:
    return "" if own is None else own.table


def running() -> Task | None:
    return OWN_TASK.get()


def before() -> OwnFile | None:
    """The file that the present one replaced."""
    return OWN_BEFORE.get()


def weight(*files: OwnFile | None) -> int:
    """Bytes that this session holds: these files with their tables and all that is declared, and the samples it has
    loaded."""
    return limits.weight(files) + _declared(*files) + limits.loaded(LOADED_SAMPLES.get().values())


def _declared(*files: OwnFile | None) -> int:
    """Bytes of what is declared about these files and for later ones; 0 where they are few."""
    size = limits.declared(files, DECLARATIONS.get())
    return size if size > LITTLE_DECLARED else 0


def no_room(own: OwnFile | None, beside: OwnFile | None) -> str:
    """Why there is no room for what is declared with ``own`` and the file ``beside`` it that can be brought back; ""
    where there is, and it counts from now on."""
    size = _declared(own, beside)
    try:
        if size:
            limits.check(b"", weight(own, beside), limits.limits())
        DECLARED.put(all_held.again(size, visitors.address(), DECLARED.get()))
    except UnreadableFile as error:
        return said.not_declared(words.sentence(error))
    return ""


def decide(change: Callable[[Decisions], Decisions]) -> None:
    """Change what is declared, and everything that shows it."""
    own = source.own_file()
    if own is None:
        return
    try:
        commit(own.decide(after_reading(own.unseen, change(own.decisions), own.decisions)))
    except InvalidArgument as error:
        session.say("own", words.sentence(error))


def after_reading(unseen: bool, stated: Decisions, before: Decisions | None = None) -> Decisions:
    """What somebody ``stated`` of a table that is ``unseen``, marked where a file was read in this session: of one that
    is here all is so. What a declaration brings keeps its own marks, and does not come this way."""
    return stated.after_looking(before) if unseen and OWN_READ.get() else stated


def declare(change: Callable[[Schema], Schema], **settled: Any) -> None:
    """``decide`` about the columns alone."""
    decide(lambda old: replace(old, schema=change(old.schema), **settled))


def settle(doubt: str) -> None:
    """The person has answered what the file alone could not decide."""
    decide(lambda old: replace(old, settled=old.settled | {doubt}))


def undo() -> None:
    own = source.own_file()
    if own is not None:
        commit(own.undone())


def commit(own: OwnFile) -> None:
    """Hold a changed file, if there is room for what is declared; what the pages show of it follows."""
    problem = no_room(own, before())
    if problem:
        session.say("own", problem)
        return
    if own.use == "twin" and own.columns.declared is None:
        own = replace(own, use=None)
    source.keep(own)
    remember(own)
    typed = source.typed_columns(own)
    if typed is not None:
        typed.forget_all_but(own.schema.columns)
    if own.use is not None:
        start(_work(own), "Preparing the data", _prepared)


def remember(own: OwnFile) -> None:
    """Keep what is declared for the next session; not while an earlier declaration still waits to be taken."""
    if own.remembered is not None:
        return
    try:
        remembered.keep(own)
    except OSError:
        session.say("own", said.NOT_REMEMBERED)


def public_key(own: OwnFile) -> str:
    """The key of the tick "public or test data": another one for every file."""
    return f"own-public-{naming.named(own.data)}"


def look() -> None:
    """What-if: the person said that the file may be looked at."""
    own = source.own_file()
    if own is None or own.reading is None or not (own.confirmed or session.entered(public_key(own), False)):
        session.say(
            "own",
            "The chart of the file shows what is in it to whoever sees it. Tick the box only if that may be; else keep "
            "the file private.",
        )
        return
    digest = hashlib.sha256(own.data).hexdigest()
    OWN_CONFIRMED.put(frozenset({*OWN_CONFIRMED.get(), digest}))
    OWN_LOOKED.put(True)
    session.change("data", OWN)
    own = replace(own, confirmed=True, use="what_if")
    commit(own.noted("You said that the file is public or test data: from now on charts are computed from its values."))


def simulate(plan: TwinPlan) -> None:
    """Twin: rows simulated from what is declared."""
    own = source.own_file()
    if own is None or own.columns.declared is None:
        return
    session.change("data", OWN)
    columns = words.plural(len(own.columns.declared.columns), "column")
    copied = own.decisions.copied & set(own.columns.declared.names)
    used = "no row of the file was used, only lists of options you copied" if copied else "no value of a file was used"
    sentence = f"A twin of {plan.rows:,} rows was simulated from what is declared about {columns}; {used}."
    commit(replace(own, use="twin", plan=plan).noted(sentence))


def stop() -> None:
    """Show no page anything of the file any more."""
    own = source.own_file()
    if own is not None:
        source.keep(replace(own, use=None).noted("You stopped using the file in charts."))


def remove() -> None:
    """Let go of the file; it can be brought back until the session ends or another one takes its place."""
    _swap(None)


def bring_back() -> None:
    _swap(before())


def forget() -> None:
    """Let go for good of the file that could have been brought back."""
    before = OWN_BEFORE.get()
    if before is not None:
        digest = hashlib.sha256(before.data).hexdigest()
        OWN_CONFIRMED.put(OWN_CONFIRMED.get() - {digest})
    OWN_BEFORE.forget()
    SAVED.forget()
    DECLARATIONS.forget()  # options of theirs may be words of the file
    own = source.own_file()
    if own is not None and own.known:  # one of these may be what was declared about it
        own = replace(own, known=())
        source.keep(own)
    no_room(own, None)  # less counts
    with drawn.staying():
        session.forget_own()
    drawn.forget_aside()


def take_away() -> None:
    """Hold no file of theirs any more, and none that could be brought back: they may not. Pages that showed it say so,
    and show nothing in its place that somebody in the midst of a click could take for it."""
    if session.value(source.control()) == OWN:
        OWN_TAKEN.put(True)
    else:
        session.say("data", login_said.TAKEN_AWAY)
    _swap(None)
    forget()


def put_in_place(own: OwnFile) -> None:
    """Start with ``own``, if there is room for what it declares; what was there can be brought back."""
    present = source.own_file()
    problem = no_room(own, present)
    if problem:
        session.say("own", problem)
        return
    _swap(None)
    OWN_BEFORE.put(present)
    commit(own)


def _swap(own: OwnFile | None) -> None:
    """Put the file aside for ``own``, which was aside, or for none."""
    OWN_BEFORE.put(source.own_file())
    notes = drawn.put_aside()
    OWN_COLUMNS.forget()
    OWN_PENDING.forget()
    source.keep(None)
    session.forget_own()
    if own is not None:
        drawn.brought_back(notes)
        commit(own)
    elif session.value(source.control()) == OWN and not OWN_TAKEN.get():
        session.change("data", source.FIRST_SAMPLE)


def _work(own: OwnFile) -> Callable[[Say], Table]:
    typed, plan, declared = source.typed_columns(own), own.plan, own.columns.declared
    shown = OWN_SOURCE.get()  # which stays until the next one is there
    held = weight(own, before()) + limits.loaded([] if shown is None or own.use != "twin" else [shown.table])
    here, whose = limits.limits(), visitors.address()
    if own.use == "twin" and plan is not None and declared is not None:
        kept = tuple(relation for relation in plan.relations if relation.is_of(declared))

        def simulated(say: Say) -> Table:
            size = limits.made_up(declared.columns, plan.rows)
            limits.prepared(size, held, here)
            counted = all_held.waiting(size, whose)  # among what all sessions hold, for as long as its rows are there
            rng = np.random.Generator(np.random.PCG64(plan.seed))
            with all_held.AtWork(whose) as work:
                work.takes(BESIDE * plan.rows)
                made = twin(
                    declared, rows=plan.rows, rng=rng, relations=kept, turn=lambda: say(0.5, said.SIMULATING_ROWS)
                )
            weakref.finalize(made.frame, all_held.let_go, counted)
            return made

        return simulated
    if typed is None:
        raise InvalidArgument("use", "must be a twin where there is no file")

    def read(say: Say) -> Table:
        leading = own.columns.leading
        size = limits.typed(typed.reading, leading.columns)
        limits.prepared(size, held, here)
        typed.counted = all_held.again(size, whose, typed.counted)
        with all_held.AtWork(whose) as work:
            work.takes(all_held.beside(typed.reading.frame))
            return typed.table(leading, complete=True, say=say)

    return read


def _prepared(task: Task) -> None:
    own = source.own_file()
    if own is None:
        return
    if task.problem is None:
        source.keep(own, task.result)
        return
    session.say("own", task.problem or "Stopped.")
    if OWN_SOURCE.get() is None:
        source.keep(replace(own, use=None))


def start(work: Callable[[Say], Any], title: str, end: Callable[[Task], None]) -> None:
    earlier = running()
    if earlier is not None:
        earlier.cancel()
    task = Task(work, title, visitors.address())
    OWN_TASK.put(task)
    OWN_END.put(lambda: end(task))
    task.wait(PATIENCE)
    source.collect()
