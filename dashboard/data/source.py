"""The data in use in this session: a sample, a person's own file, or its twin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

from dashboard import catalogue, session, words
from dashboard.background import compute, this_run
from dashboard.budget import visitor
from dashboard.case import OWN, Mode, Source
from dashboard.controls import Choice
from dashboard.data import naming, private_answer
from dashboard.data.held import (
    LINKED_DATA,
    LOADED_SAMPLES,
    OWN_COLUMNS,
    OWN_END,
    OWN_FILE,
    OWN_LOOKED,
    OWN_NAME,
    OWN_READ,
    OWN_SOURCE,
    OWN_TAKEN,
    OWN_TASK,
)
from dashboard.data.own_file import OwnFile
from dashboard.data.task import Task
from dashboard.data.typed_columns import TypedColumns
from dashboard.replay import Same, kept
from dashboard.words import data as said
from dashboard.words import login as login_said
from dpcore.datasets import Declaration, PrivateRows, Table, related, sample, samples
from dpcore.errors import InvalidArgument, KnownPeople, UnavailableSample

FIRST_SAMPLE = catalogue.FIRST_SAMPLE


class Badge(NamedTuple):
    """What the charts are made of, in a few words."""

    icon: str
    text: str
    color: Literal["blue", "orange", "green"]


BADGES: dict[Mode, Badge] = {
    "demo": Badge(":material/science:", said.demo(simulated=True), "blue"),
    "what_if": Badge(":material/visibility:", "What-if: your file, not private", "orange"),
    "twin": Badge(":material/copy_all:", said.twin("file"), "green"),
}


def first() -> str:
    """The sample that is in use until somebody chooses."""
    return session.starting_sample() or FIRST_SAMPLE


def open_page(key: str) -> None:
    """A page of questions opens with its own example until somebody chooses data; call before anything is drawn."""
    page = next((page for page in catalogue.pages() if page.key == key), None)
    if page is None or (page.example or FIRST_SAMPLE) == first():
        return
    linked = session.starting_sample() is None and bool(LINKED_DATA.get())
    untouched = not linked and session.value(control()) == first()
    session.start_with(page.example or FIRST_SAMPLE)
    if untouched:
        session.unset("data")


def control() -> Choice[str]:
    """The choice of data: samples, and the person's own file where there is one."""
    own, begins = title(OWN) if OWN_NAME.get() or OWN_TAKEN.get() else "", first()

    def made() -> Choice[str]:
        keys = [known.key for known in samples()]
        return Choice(
            key="data",
            label="Data",
            help="A sample to explore, or your own file from the Data page.",
            options=(*keys, OWN) if own else tuple(keys),
            names=lambda key: own if key == OWN else title(key),
            default=begins,
            refusal=" ",  # ``not_here`` says more than the usual sentence
        )

    return kept(("data in use", own, begins), made)


def current() -> Source | None:
    """The data in use, or None when a person's own file still waits for a decision on the Data page.

    What is ready is taken over where this is first asked for in a run, not in the midst of drawing: it takes along what
    was set about the data before, also of widgets that are on the page by then.
    """
    this_run.once(("collected",), collect)
    own: Source | None = OWN_SOURCE.get()
    if session.ask(control()) == OWN:
        return own
    key = sample_key()
    try:
        table = sample_table(key)
    except UnavailableSample as error:
        session.say("data", f"{words.reason(error)} Showing {sample(FIRST_SAMPLE).title} instead.")
        key = FIRST_SAMPLE
        table = sample_table(key)
    lineage = visitor.lineage(key)
    loaded = key in LOADED_SAMPLES.get()  # by this session, which has a table of its own
    return kept(
        ("source", key, Same(table), lineage),
        lambda: Source(
            key=key,
            title=sample(key).title,
            mode="demo",
            table=table,
            lineage=lineage,
            practice=True,
            declared=compute.MEMORY(("declared", key, table.fingerprint), lambda: Declaration.of(table.schema)),
            rows=(lambda: PrivateRows(table.frame)) if loaded else (lambda: compute.sample_rows(key)),
            everybodys=not loaded,
        ),
    )


def sample_table(key: str) -> Table:
    """A sample; one that needs a file or a network only after this session has loaded it on the Data page.

    Raises UnavailableSample.
    """
    loaded: dict[str, Table] = LOADED_SAMPLES.get()
    if key in loaded:
        return loaded[key]
    if sample(key).needs_network:
        raise UnavailableSample("Load the census table on the Data page first: it is not part of this program.")
    return compute.sample(key)


def sample_key() -> str:
    key = session.ask(control())
    return FIRST_SAMPLE if key == OWN else key


def title(key: str) -> str:
    """The name of a sample or of a source of this server; a person's own file has none, as older links held it."""
    if key != OWN:
        return sample(key).title
    own = own_file()
    return said.YOUR_OWN if own is None or own.place is None else words.visible(own.name, 60)


def taken_away() -> bool:
    """Whether pages show nothing, since who looks may hold no data of their own any more; until they choose others."""
    if OWN_TAKEN.get() and session.value(control()) != OWN:
        OWN_TAKEN.forget()
    return OWN_TAKEN.get()


def not_here() -> str | None:
    """One sentence while the link this session began with is about data it does not have; call after the choice."""
    asked = LINKED_DATA.get()
    settled = OWN_NAME.get() or session.value(control()) != first()
    if not asked or settled or asked in (first(), title(first())):
        LINKED_DATA.put("")
        return None
    if asked in (OWN, said.YOUR_OWN):
        return said.GONE
    return "You see a sample: the link names data that are not here. Pick others in the list."


def badge(shown: Source) -> Badge:
    """What the charts are made of: of a sample, whether anybody in it exists; of a twin, whose rows they are not."""
    own, found = own_file(), BADGES[shown.mode]
    if shown.mode == "demo":
        return found._replace(text=said.demo(simulated=sample(shown.key).simulated))
    return found._replace(text=said.twin(kind_of(own))) if shown.mode == "twin" and own is not None else found


def kind_of(own: OwnFile) -> said.Kind:
    """What is behind it."""
    return "source" if own.place is not None else "described" if own.described else "file"


def beside() -> str:
    """Whose data the pages show while this session also holds a file that they do not show; "" elsewhere."""
    own = own_file()
    if own is None:
        return ""
    sample = session.ask(control()) != OWN
    if held() is None:
        if under_way() is not None:
            return said.being_prepared(own.name, sample=sample)
        return said.not_in_use(own.name, kind_of(own), sample=sample)
    return said.shown_instead(own.name, title(OWN)) if sample else ""


def under_way() -> Task | None:
    """What is being read or prepared for this session beside the page."""
    found: Task | None = OWN_TASK.get()
    return found


def undecided() -> str:
    """While a page has nothing to show: what the person's own data still wait for."""
    own = own_file()
    if OWN_TAKEN.get():
        return login_said.TAKEN_AWAY if compute.no_files() else login_said.GIVEN_BACK
    if own is not None and under_way() is not None:
        return said.being_prepared(own.name, sample=False)
    return said.decide_first("file" if own is None else kind_of(own))


def collect() -> bool:
    """Take over what was read or prepared for this session beside the page, once it is done; whether there was some."""
    task: Task | None = OWN_TASK.get()
    if task is None or not task.finished:
        return False
    OWN_TASK.forget()
    finish: Callable[[], None] = OWN_END.get()
    OWN_END.forget()
    finish()
    task.result = None  # the button that cancels it holds on to the task for a while
    return True


def own_file() -> OwnFile | None:
    """What this session holds of a person's own."""
    return OWN_FILE.get()


def keep(own: OwnFile | None, table: Table | None = None) -> None:
    """Hold ``own`` in this session. The pages show ``table`` from now on; without one they go on as they were.

    A file without a use is not shown by any page.
    """
    shown: Source | None = OWN_SOURCE.get()
    if own is None and own_file() is not None:
        naming.another()
    OWN_FILE.put(own)
    if own is not None:
        OWN_TAKEN.forget()
        OWN_READ.put(OWN_READ.get() or not own.unseen)
    OWN_NAME.put(None if own is None else own.name)
    if own is None or own.use is None or (table is None and shown is None):
        OWN_SOURCE.put(None)
        return
    OWN_SOURCE.put(_own_source(own, shown.table if table is None and shown is not None else table))


def held() -> Source | None:
    """The person's own file as pages would show it, whatever data are in use; None without one that has a use."""
    return OWN_SOURCE.get()


def typed_columns(own: OwnFile) -> TypedColumns | None:
    """The session's typed columns of this reading; None for a table that is only described."""
    if own.reading is None:
        return None
    held: TypedColumns | None = OWN_COLUMNS.get()
    if held is None or held.reading is not own.reading:
        held = TypedColumns(reading=own.reading)
        OWN_COLUMNS.put(held)
    return held


def joined(own: OwnFile) -> None:
    """The ledger knows this file as one of its people's from now on: a later one about them is recognised by it."""
    present = own_file()
    if present is not None and present.as_read is own.as_read and present.lineage == own.lineage:
        keep(replace(present, alike=(), same=False, joined=True, uncompared=""))


def ask_whose(own: OwnFile, error: KnownPeople) -> None:
    """The file may be about people who have had a budget since it arrived: its person is asked, as on arrival."""
    present = own_file()
    if present is not None and present.as_read is own.as_read:
        keep(replace(present, alike=error.found, same=error.same))


def _join(own: OwnFile) -> None:
    """Before a private answer; a file is known already unless it was read anew since."""
    if own.joined or own.lineage is None or own.place is not None:
        return
    ledger = compute.ledger()
    file = own.brought(ledger.sketch_key)
    if file is None:
        return
    try:
        ledger.join(file, own.lineage)
    except KnownPeople as error:
        ask_whose(own, error)
        raise
    joined(own)


def _count(key: str) -> None:
    """Callback: the person calls the number of rows of this reading right. It holds nothing of the file, which it would
    outlive."""
    present = own_file()
    if present is not None and present.reading is not None and present.reading.key == key:
        keep(present.counted())


def _own_source(own: OwnFile, table: Table | None) -> Source | None:
    if table is None or own.use is None:
        return None
    problem, columns = private_answer.unreleasable(own), own.columns.declared
    stated = (
        None
        if columns is None
        else Declaration.of(
            columns,
            suggested=own.columns.suggested,
            row_suggested=own.rows.suggested,
            form=own.form.said_in_answers,
            coded=own.form.coded,
            named_by_rows=own.named_by_rows,
            table="" if own.place is None else own.place.table,
            together=own.together,
            done=own.done,
        )
    )
    return Source(
        # A name of its own for every table, so that nothing edited on a page is carried over to another one. It is
        # written into the page, where no guess of the table may be tested on it.
        key=f"{OWN}-{naming.named(table.fingerprint)}",
        title=own.name,
        mode=own.use,
        table=table,
        lineage=None if own.described or own.uncompared else own.lineage,
        in_place=own.place is not None,
        practice=False,
        declared=None if problem else stated,
        so_far=stated,
        rows=None if problem or own.described or stated is None else lambda: _rows(own),
        unreleased=problem,
        join=lambda: _join(own),
        drawn_from=_drawn_from(own),
        related=frozenset() if own.plan is None else related(own.plan.relations, table.schema),
        shown=OWN_LOOKED.get(),
        count=partial(_count, own.reading.key) if own.form.uncounted and own.reading is not None else None,
    )


def _drawn_from(own: OwnFile) -> str:
    """See ``Source``: the table as it was read, to the last byte and choice, and the steps done since."""
    table = "" if own.place is None else own.place.table
    return naming.named_within(repr((table, None if own.as_read is None else own.as_read.key, own.steps)))


def _rows(own: OwnFile) -> PrivateRows:
    """The rows for one private answer; that those of a file were read for it is noted once."""
    if own.place is not None:
        return own.place.rows()
    present, sentence = own_file(), "The declared columns were read to make a private answer from them."
    same = present is not None and present.reading is own.reading
    if present is not None and same and all(entry.sentence != sentence for entry in present.log):
        OWN_FILE.put(present.noted(sentence))
    if own.reading is None:
        raise InvalidArgument("file", "must be there to draw from it")
    return own.reading.private
