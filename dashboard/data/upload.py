"""Getting a file in: the uploader, progress with cancel, the sentence when it cannot be read, and bringing one back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import streamlit as st

from dashboard import session, words
from dashboard.data import actions, arrivals, doubts, naming, source, understood
from dashboard.data.held import OWN_ROUND
from dashboard.data.own_file import OwnFile
from dashboard.data.task import Task
from dashboard.people import login
from dashboard.widgets.apart import apart
from dashboard.widgets.drop_areas import named
from dashboard.widgets.inputs import text_box
from dashboard.words import data as said
from dpcore.datasets import Report
from dpcore.datasets.report import LABELLED

LARGEST = 200
LARGEST_PASTED = 2_000_000
_GUESS = "as guessed"
_OF_FORM = ("quote", "escape", "returns", "breaks", "merged", "objects")
"""What is asked of a file's form that no other field here says."""


def drop(label: str) -> None:
    """The uploader. It is empty again after each file, which the session keeps."""
    key = f"own-upload-{OWN_ROUND.get()}"
    st.file_uploader(
        label,
        type=None,  # whatever the name says: what a file is not is said by us, in a sentence
        key=key,
        max_upload_size=LARGEST,
        on_change=arrivals.receive,
        args=(key,),
        help=said.drop_help(LARGEST),
    )
    named()


def paste() -> None:
    """A box for a table copied from a sheet, a page or a mail."""
    with st.expander(said.PASTE, icon=":material/content_paste:"), st.form("own-paste", border=False):
        key = f"own-paste-{OWN_ROUND.get()}"
        text_box(said.PASTE_LABEL, key=key, height=140, most=LARGEST_PASTED, placeholder=said.PASTE_EXAMPLE, lines=True)
        st.form_submit_button(said.PASTE_GO, key="own-paste-go", on_click=arrivals.paste, args=(key,))


def progress(task: Task, collect: Callable[[], bool]) -> None:
    """How far a task is, and a way to stop it; the page starts again when it has ended."""

    @st.fragment(run_every=0.3)
    def poll() -> None:
        if login.needed():
            st.rerun()
        if task.finished:
            collect()
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(task.fraction, text=f"{task.title}: {task.words.lower()}")
            st.button("Cancel", icon=":material/close:", key=f"cancel-{id(task)}", on_click=task.cancel)

    poll()


def trouble() -> None:
    """The sentence about a file that could not be read, and the ways to read it differently."""
    at = arrivals.pending()
    if at is None or not at.problem:
        return
    with st.container(border=True):
        st.markdown(f":material/error: **{words.safe(at.name)} was not read.**")
        st.error(words.safe(at.problem, 500))
        kept = "The data you had before are still here. " if at.again or source.own_file() else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{kept}You can change the file and drop it again.", width="stretch")
            st.button(said.LET_GO, icon=":material/delete_forever:", key="own-pending-forget", on_click=arrivals.let_go)
        with st.expander("Say how it is to be read"):
            known = dict(at.choices)
            key = f"own-again-failed-{OWN_ROUND.get()}"
            differently(source.own_file(), known, key=key, part=True, form=known, labelled=_coded(known))


def again(own: OwnFile) -> None:
    """To read the present file differently. Why that failed is said here too: on a phone its top is far away."""
    at = arrivals.pending()
    report = None if own.reading is None else own.reading.report
    differently(
        own,
        dict(own.choices),
        key=naming.about("own-again"),
        problem=at.problem if at is not None and at.again else "",
        text=report is None or report.container in ("text", "json"),
        form=_asked(report, own),
        part=report is not None and bool(report.part),
        labelled=_may_be_coded(own),
    )


def _may_be_coded(own: OwnFile) -> tuple[str, ...]:
    """The columns that can be read by their codes: all of a kind of file that can have labels, whether it has some or
    not, for one row can bring one."""
    if own.as_read is None or own.as_read.report.container not in LABELLED:
        return ()
    return tuple(map(str, own.as_read.frame.columns))


def _coded(known: Mapping[str, object]) -> tuple[str, ...]:
    """The columns that somebody said are read by their codes."""
    found = known.get("coded", ())
    return found if isinstance(found, tuple) else ()


def _asked(report: Report | None, own: OwnFile) -> set[str]:
    """What of this file's form is asked, or was answered."""
    return {one.argument for one in (report.alternatives if report is not None else ())} | dict(own.choices).keys()


def differently(
    own: OwnFile | None,
    known: dict[str, object],
    *,
    key: str,
    problem: str = "",
    text: bool = True,
    part: bool = False,
    form: Collection[str] = (),
    labelled: Sequence[str] = (),
) -> None:
    """Overrides of what was guessed; what stays “as guessed” is left to the guess. ``problem`` stands at the button.

    ``text`` is whether the file has delimiters and an encoding, ``part`` whether it may hold several tables, ``form``
    what else can be asked of its form. Of the ``labelled`` columns any can be read by its codes.
    """
    with st.form(key, border=False):
        with st.grid(3, min_column_width=170):
            if part:
                text_box(said.PART, value=str(known.get("part") or ""), placeholder=_GUESS, key=f"{key}-part", most=300)
            if text:
                _text_fields(known, key)
            st.selectbox(
                "Lines with column names",
                [None, 0, 1, 2],
                index=_at([None, 0, 1, 2], known.get("header_rows")),
                key=f"{key}-header_rows",
                format_func=lambda rows: _GUESS if rows is None else str(rows),
            )
            st.number_input(
                "Names start on line",
                value=_line(known.get("header_line")),
                min_value=1,
                placeholder=_GUESS,
                key=f"{key}-header_line",
            )
            st.selectbox(
                "Decimal mark",
                [None, ".", ","],
                index=_at([None, ".", ","], known.get("decimal")),
                key=f"{key}-decimal",
                format_func=lambda sign: {None: _GUESS, ".": "point", ",": "comma"}[sign],
            )
            st.selectbox(
                "Dates start with",
                [None, "dmy", "mdy"],
                index=_at([None, "dmy", "mdy"], known.get("date_order")),
                key=f"{key}-date_order",
                format_func=lambda order: {None: _GUESS, "dmy": "the day", "mdy": "the month"}[order],
            )
            for name in _OF_FORM:
                if name not in form:
                    continue
                ways = [None, *doubts.ANSWERS[name]]
                st.selectbox(
                    doubts.ASKED[name],
                    ways,
                    index=_at(ways, known.get(name)),
                    key=f"{key}-{name}",
                    format_func=partial(_answer, name),
                )
        if labelled:
            st.multiselect(
                said.CODED,
                labelled,
                default=[name for name in labelled if name in _coded(known)],
                key=f"{key}-coded",
                format_func=apart(labelled, lambda name: words.visible(name, 60)),
                help=said.CODED_HELP,
            )
        st.checkbox("Keep totals and notes as rows", value=bool(known.get("keep_footer")), key=f"{key}-keep_footer")
        st.checkbox(
            "Set aside rows with too many cells",
            value=known.get("uneven") == "set aside",
            key=f"{key}-uneven",
        )
        st.form_submit_button("Read it this way", key=f"{key}-go", on_click=actions.of(own, _differently), args=(key,))
        if problem:
            st.error(words.safe(problem, 500))


def _text_fields(known: dict[str, object], key: str) -> None:
    names = understood.DELIMITERS | understood.SPACED
    signs: list[str | None] = [None, *names, ""]
    st.selectbox(
        "Cells end at",
        signs,
        index=_at(signs, known.get("delimiter")),
        key=f"{key}-delimiter",
        format_func=lambda sign: _GUESS if sign is None else names.get(sign, "one cell per line"),
    )
    st.selectbox(
        "Text encoding",
        [None, *understood.ENCODINGS],
        index=_at([None, *understood.ENCODINGS], known.get("encoding")),
        key=f"{key}-encoding",
        format_func=lambda name: _GUESS if name is None else understood.ENCODINGS[name],
    )


def _answer(name: str, way: str | None) -> str:
    return _GUESS if way is None else doubts.titled(name, way)


def _at(options: Sequence[object], value: object) -> int:
    return options.index(value) if value in options else 0


def _differently(key: str) -> None:
    chosen = {
        name: session.entered(f"{key}-{name}", None)
        for name in ("delimiter", "encoding", "header_rows", "decimal", "date_order", *_OF_FORM)
    }
    line = session.entered(f"{key}-header_line", None)
    coded: Sequence[str] = session.entered(f"{key}-coded", ())
    arrivals.read_again(
        **chosen,
        part=str(session.entered(f"{key}-part", "") or "").strip() or None,
        header_line=None if line is None else int(line),
        coded=tuple(sorted(coded)) or None,
        keep_footer=True if session.entered(f"{key}-keep_footer", False) else None,
        uneven="set aside" if session.entered(f"{key}-uneven", False) else None,
    )


def held(own: OwnFile) -> None:
    """Which file is held, and replace, bring back, remove."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/description: **{words.safe(own.name)}**", width="stretch")
        with st.popover("Replace", icon=":material/swap_horiz:"):
            drop("Another file in its place")
            paste()
        bring_back(own)
        st.button("Remove", icon=":material/delete:", key="own-remove", on_click=actions.of(own, actions.remove))
    st.caption(understood.where_kept(), help=understood.where_it_is())


def bring_back(own: OwnFile | None) -> None:
    """A way back to the file that was replaced or removed, where there is one, and a way to let go of it."""
    earlier = actions.before()
    if earlier is not None:
        st.button(
            f"Bring back {words.safe(earlier.name, 30)}",
            icon=":material/undo:",
            key="own-back",
            on_click=actions.of(own, actions.bring_back),
        )
        st.button(
            f"Forget {words.safe(earlier.name, 30)} for good",
            icon=":material/delete_forever:",
            key="own-forget",
            on_click=actions.of(own, actions.forget),
        )


def _line(known: object) -> int | None:
    return known if isinstance(known, int) else None
