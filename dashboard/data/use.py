"""How the file may be used: looked at, or only through a twin and private answers."""

from __future__ import annotations

import streamlit as st

from dashboard import session, words
from dashboard.case import MARK
from dashboard.data import actions, naming, private_answer, source
from dashboard.data.own_file import OwnFile, TwinPlan
from dashboard.widgets import inputs as controls
from dashboard.widgets.apart import apart
from dashboard.words import asking as asking_said
from dashboard.words import columns as column_words
from dashboard.words import data as data_words
from dashboard.words import place as said
from dpcore.datasets import Column, Relation, Schema
from dpcore.errors import InvalidArgument

PUBLIC = "Treat this file as public or test data: charts show what is in it, unprotected."
MOST_ROWS = 1_000_000


def show_use(own: OwnFile) -> None:
    """The two ways, and which one is in use."""
    st.markdown("**How may this file be used?**" if not own.unseen else "**Try it out**")
    if set(private_answer.doubts(own)) & set(own.doubts):
        st.caption("Answer the open questions about the file first.")
        return
    if own.use is not None:
        _in_use(own)
        return
    if own.unseen:
        _twin(own, "Simulate rows")
        return
    left, right = st.columns(2, gap="medium")
    with left, st.container(gap="small"):
        if own.doubts:
            st.caption("Answer the open questions about the file before you look at it.")
        else:
            _look(own)
    with right:
        st.markdown("Keep it private: private answers come from the file itself, charts from a twin.")
        _twin(own, "Show a twin instead")
        st.caption(data_words.TWIN_SHOWN)


def _look(own: OwnFile) -> None:
    st.checkbox(PUBLIC, key=actions.public_key(own), value=own.confirmed)
    st.button(
        "Look at this file",
        icon=":material/visibility:",
        key="own-look",
        on_click=actions.of(own, actions.look),
        help=f"Every chart and export will say: {MARK}",
    )
    st.caption(f"{asking_said.NOT_SHOWN} {asking_said.LOOKED_AT}")


def _in_use(own: OwnFile) -> None:
    if own.use == "what_if":
        st.markdown(
            ":orange-badge[:material/visibility: What-if] Charts are computed from the file's own values. "
            f"Each of them says: “{MARK}”"
        )
    else:
        rows = 0 if own.plan is None else own.plan.rows
        st.markdown(
            f":green-badge[:material/copy_all: Twin] Charts show {rows:,} simulated rows that follow what you "
            f"declared. {_none_read(own)}"
        )
    with st.container(horizontal=True):
        st.button("Use it differently", icon=":material/undo:", key="own-stop", on_click=actions.of(own, actions.stop))
        if own.use == "twin":
            _twin(own, "Change the twin")


def _none_read(own: OwnFile) -> str:
    if own.described:
        return "There is no file behind them."
    if own.place is not None:
        return said.NOT_READ
    declared = own.columns.declared
    copied = sorted(own.decisions.copied & set(() if declared is None else declared.names))
    if copied:
        names = ", ".join(f"“{words.safe(name)}”" for name in copied)
        used = f"No row of the file was used; the options of {names} are the list you copied from it."
    else:
        used = "No value of the file was used for them."
    return f"{used} {column_words.AS_STATED}{_looks(own)}"


def _looks(own: OwnFile) -> str:
    """What a twin shows of the file all the same: what its cells look like, where nobody said what they hold."""
    open_ = own.columns.unconfirmed(own.columns.suggested)
    if not open_:
        return ""
    names = ", ".join(f"“{words.safe(name, 30)}”" for name in open_[:5])
    return column_words.looks_like(names + (" and more" if len(open_) > 5 else ""))


def _twin(own: OwnFile, label: str) -> None:
    declared = own.columns.declared
    if declared is None:
        st.caption(
            ":material/edit_note: A twin needs bounds or options of at least one column, declared by you under Columns."
        )
        return

    @st.dialog("Rows simulated from what you declared")
    def plan() -> None:
        _plan(own, declared)

    if st.button(label, icon=":material/copy_all:", key="own-twin-open"):
        plan()


def _plan(own: OwnFile, declared: Schema) -> None:
    names = declared.names
    left = [column.name for column in own.schema.columns if column.name not in names and column.type != "text"]
    st.markdown(
        f"Rows are drawn from what you declared about {words.plural(len(names), 'column')} and from nothing else."
    )
    if left:
        listed = ", ".join(f"“{words.safe(name, 30)}”" for name in left[:5])
        st.caption(f"Left out, because nothing is declared yet: {listed}{' and more' if len(left) > 5 else ''}.")
    if looks := _looks(own):
        st.caption(looks.strip())
    plan = own.plan or TwinPlan(rows=500, seed=controls.current_seed())
    with st.form("own-twin", border=False):
        st.number_input(
            "How many rows",
            value=plan.rows,
            min_value=1,
            max_value=MOST_ROWS,
            step=100,
            key=naming.about("own-twin-rows"),
        )
        _relation_fields(declared, plan)
        if st.form_submit_button("Simulate", on_click=actions.of(own, _simulate), key="own-twin-go"):
            st.rerun()


def _relation_fields(declared: Schema, plan: TwinPlan) -> None:
    fitting = [relation for relation in plan.relations if relation.is_of(declared)]
    old = fitting[0] if fitting else None
    targets = [column.name for column in declared.columns if column.type in ("yes/no", "category", "number", "integer")]
    drivers = [column.name for column in declared.columns if column.type != "text"]
    st.markdown("**A relation you expect** (optional), such as “about 30 in 100 say yes, more with age”")
    st.selectbox(
        "Column",
        targets,
        index=None if old is None else targets.index(old.target),
        placeholder="no relation",
        key=naming.about("own-twin-target"),
        format_func=apart(targets, words.visible),
    )
    st.number_input(
        "How many in 100 say yes, or hold its first option",
        value=None if old is None or old.share is None else 100.0 * old.share,
        min_value=0.0,
        max_value=100.0,
        placeholder="leave open",
        format="%g",
        key=naming.about("own-twin-share"),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Goes up or down", ["more", "less"], default="more" if old is None else old.direction, required=True,
            key=naming.about("own-twin-direction"),
        )  # fmt: skip
        st.selectbox(
            "with",
            drivers,
            index=None if old is None or old.driver is None else drivers.index(old.driver),
            placeholder="nothing",
            key=naming.about("own-twin-driver"),
            format_func=apart(drivers, words.visible),
            width=180,
        )
    st.select_slider(
        "How closely",
        [0.2, 0.5, 0.8],
        value=0.5 if old is None else old.strength,
        format_func={0.2: "loosely", 0.5: "clearly", 0.8: "nearly decides it"}.__getitem__,
        key=naming.about("own-twin-strength"),
    )


def _simulate() -> None:
    own = source.own_file()
    if own is None or own.columns.declared is None:
        return
    rows = min(max(int(session.entered(naming.about("own-twin-rows"), 500) or 500), 1), MOST_ROWS)
    try:
        relation = _relation(own.columns.declared)
    except InvalidArgument as error:
        session.say("own", f"This relation cannot be: {error}.")
        return
    actions.simulate(
        TwinPlan(rows=rows, seed=controls.current_seed(), relations=() if relation is None else (relation,))
    )


def _relation(declared: Schema) -> Relation | None:
    target: str | None = session.entered(naming.about("own-twin-target"), None)
    driver: str | None = session.entered(naming.about("own-twin-driver"), None)
    share: float | None = session.entered(naming.about("own-twin-share"), None)
    if target is None or (share is None and driver is None):
        return None
    column: Column = declared.column(str(target))
    return Relation(
        target=column.name,
        share=None if share is None or column.is_numeric else float(share) / 100.0,
        driver=None if driver is None else declared.column(str(driver)).name,
        direction="less" if session.entered(naming.about("own-twin-direction"), "more") == "less" else "more",
        strength=float(session.entered(naming.about("own-twin-strength"), 0.5)),
    )
