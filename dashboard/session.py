"""The only writer of ``st.session_state``.

What a person sets is held by control, which also says what a link carries; everything else a session holds has one
typed accessor below.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.background import garbage, this_run
from dashboard.case import OWN
from dashboard.controls import Control, Numbers, Place, Refused
from dashboard.replay import Memory
from dashboard.runtime import looked_up
from dashboard.view import EPSILON, EPSILON_HIGH, EPSILON_LOW

if TYPE_CHECKING:
    from dpcore.costs import Cost
    from dpcore.ledger import Known

_MANTISSAS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
EPSILON_STEPS = (*(round(m * scale, 4) for scale in (0.01, 0.1, 1.0) for m in _MANTISSAS), 10.0)

_FORMER_KEYS = 20  # of one widget of ε: the browser is never that many runs behind

T = TypeVar("T")
V = TypeVar("V")


_BEGINS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("_receipts", "_notes", "_set", "_controls"), dict),
    **dict.fromkeys(("_written", "_unlinked", "_by_click", "_named"), set),
    "_request": lambda: None,
    "_unread": list,
    "_linked": lambda: st.query_params.to_dict(),
    "_linked_data": lambda: st.query_params.get("data", ""),  # the link forgets a choice there is not
}


def begin() -> None:
    """Put defaults in place. Call once, first, in every run."""
    state = _state()
    for name, make in _BEGINS.items():
        if name not in state:
            state[name] = make()
    state["_controls"].clear()


def _book(name: str) -> Any:
    """One of the collections that ``begin`` made, looked up once in a run: Streamlit takes longer for it than we do.

    They are changed in place and never replaced.
    """
    kept = this_run.kept()
    if kept is None:
        return st.session_state[name]
    found = kept.get(name)
    if found is None:
        found = kept[name] = st.session_state[name]
    return found


def _state() -> Any:
    """The session's state for who asks for single values: ``st.session_state`` looks for it anew for each of them."""
    run = this_run.kept()
    state = None if run is None else run.get("state")
    if state is None:
        ctx = get_script_run_ctx(suppress_warning=True)
        if ctx is None:
            return st.session_state
        state = ctx.session_state
        if run is not None:
            run["state"] = state
    return state


def epsilon() -> float:
    """The privacy level every page uses: what was typed, dragged or linked to, where it lies within the limits."""
    return ask(EPSILON)


def epsilon_levels() -> list[float]:
    """The steps of the slider, with the level in use where it lies between two."""
    return sorted({*EPSILON_STEPS, epsilon()})


def epsilon_key(name: str) -> str:
    """The key to draw one of the widgets of ε under, with ε as its value; ``name`` is the widget's, for life.

    It stays the same while ε is what this widget was drawn with or set to. Once anything else sets ε it is another
    widget: the one of this ε, unless a person has moved that. Told of ε as it is, it would take its thumb back under
    whoever moves on meanwhile; and what the browser still holds of the former value is sent with the next move of
    anything.
    """
    shown, now = _EPSILON_WIDGETS.once().setdefault(name, {}), epsilon()
    key = next(reversed(shown), name)
    if shown.setdefault(key, now) != now:
        key = f"{name}-{now!r}"
        if shown.get(key, now) != now:
            key = f"{name}-{uuid.uuid4().hex[:8]}"
        shown.pop(key, None)
        shown[key] = now  # the last is the one in use
        if len(shown) > _FORMER_KEYS:
            gone = next(iter(shown))
            del shown[gone]
            ctx = get_script_run_ctx(suppress_warning=True)
            if ctx is not None:
                looked_up.forget_widget(ctx.session_state, gone)
    return key


def set_epsilon(found: float) -> None:
    """For buttons such as "use this ε"; call from a callback only."""
    change(EPSILON.key, float(min(max(found, EPSILON_LOW), EPSILON_HIGH)))


def take_epsilon() -> None:
    """For a page about a person's own file that was looked at: ε as it stands there, whatever set it, goes with that
    file, and no link carries it."""
    EPSILON_TAKEN.put(value(EPSILON))


def epsilon_taken() -> bool:
    """Whether ε stands as it last stood beside pictures of a person's own file."""
    return EPSILON_TAKEN.get() == value(EPSILON)


def _not_taken(taken: float | None) -> None:
    if taken is not None and taken == value(EPSILON):
        unset(EPSILON.key)


def epsilon_from(name: str, key: str) -> None:
    """Callback: ε is what this widget of it was set to; ``key`` is the one it was drawn under.

    Streamlit calls this too for a widget that is gone and nobody moved, for as long as the browser sends it; and a page
    made by hand names one that has no value here.
    """
    shown, given = _EPSILON_WIDGETS.once().get(name, {}), st.session_state.get(key)
    if given is not None and key in shown and shown[key] != given:
        del shown[key]  # the last is the one in use
        shown[key] = st.session_state[EPSILON.key] = given


def epsilon_from_picture(picture: str) -> None:
    """Callback: ε is where the finger left the curve of ``picture``: a step of the slider, which lies on the public
    grid, or the level in use between two steps."""
    event = st.session_state.get(picture)
    found = None if event is None else event.get("epsilon")
    if found is not None and found in epsilon_levels():
        set_epsilon(float(found))


def say(name: str, sentence: str) -> None:
    """Leave a sentence for ``note`` to show; what a click left is shown by ``untold`` where that part of the page is
    gone."""
    st.session_state["_notes"][name] = sentence
    by_click: set[str] = st.session_state["_by_click"]
    (by_click.add if this_run.kept() is None else by_click.discard)(name)


def note(name: str) -> str | None:
    """A sentence about something a link or a control asked for that cannot be; shown once."""
    notes: dict[str, str] = st.session_state["_notes"]
    return notes.pop(name, None)


def untold() -> list[str]:
    """What became of clicks, of which no part of the page has told: what somebody else took away in the meantime takes
    along the part that would. Once the page is drawn."""
    by_click: set[str] = st.session_state["_by_click"]
    found = [note(name) for name in sorted(by_click)]
    by_click.clear()
    return [one for one in found if one]


class Slot(Generic[T]):
    """One value that a session holds beside what is set by controls: its name, its type and what it is at first.

    Each belongs to the room it is declared in. ``own`` is said of what is made from a person's own data and goes with
    their file: a function that ends it. What ``stays`` is still there after its tab was loaded anew (``data/tab.py``).
    """

    made: ClassVar[list[Slot[Any]]] = []

    def __init__(
        self, name: str, first: Callable[[], T], *, own: Callable[[T], None] | None = None, stays: bool = False
    ) -> None:
        self._name, self._first, self._own, self._stays = name, first, own, stays
        Slot.made.append(self)

    @classmethod
    def staying(cls) -> list[str]:
        """The names of all that stay."""
        return [slot._name for slot in cls.made if slot._stays]

    def end(self) -> None:
        """Let go of it with the person's file, if it is made from one."""
        if self._own is not None and self._name in st.session_state:
            self._own(self.get())
            self.forget()

    def get(self) -> T:
        try:  # looked up once: asking first whether it is there takes as long again
            found: T = _state()[self._name]
        except KeyError:
            return self._first()
        return found

    def put(self, new: T) -> None:
        st.session_state[self._name] = new

    def forget(self) -> None:
        st.session_state.pop(self._name, None)

    def once(self) -> T:
        """The value, made now if it is not there, and kept."""
        state = _state()
        try:
            found: T = state[self._name]
        except KeyError:
            found = state[self._name] = self._first()
        return found


NEXT_COST: Slot[tuple[Cost, str] | None] = Slot("_next_cost", lambda: None)
"""What one more answer of the page in view would cost, and what it hides; the tracker counts with it."""


_EPSILON_WIDGETS: Slot[dict[str, dict[str, float]]] = Slot("_epsilon_widgets", dict)
"""By name of a widget of ε: the keys it was drawn under, the one in use last, and what each holds in the browser."""

EPSILON_TAKEN: Slot[float | None] = Slot("_epsilon_taken", lambda: None, own=_not_taken, stays=True)
"""ε as it last stood beside pictures of the file that the person holds."""


SAID: Slot[Memory] = Slot("_said", Memory, own=Memory.clear)
"""What the last run said, so that it need not be made again."""


def forget_own() -> None:
    """Drop everything that was made from a person's own data and is not the file they hold now.

    Numbers that were computed, pictures, simulated models, and what was set on pages about those columns. What of it
    refers to itself is collected within some seconds (``garbage``), since the server does not do that after every run.
    """
    for slot in Slot.made:
        slot.end()
    shared = {EPSILON.key, "data"}
    kept: dict[str, Any] = _book("_set")
    for key in [key for key in kept if key not in shared]:
        unset(key)
    _book("_controls").clear()
    _book("_receipts").clear()  # each is still among the answers of its people
    _state()["_request"] = None
    if (ctx := get_script_run_ctx()) is not None:
        looked_up.forget_left(ctx.session_state)
    garbage.soon()


def entered(key: str, default: T) -> T:
    """What a widget that is no control holds: an entry of a form, by the widget's key."""
    found: T = st.session_state.get(key, default)
    return found


def enter(key: str, new: Any) -> None:
    """Put something into such a widget, from a callback or before it is drawn."""
    _set_anew()
    st.session_state[key] = new


def leave(key: str) -> None:
    """Drop what such a widget holds."""
    _set_anew()
    st.session_state.pop(key, None)


def begin_release(slot: str, seen: Known | None = None) -> None:
    """A person wants a release: give it an id that every later click repeats, and forget the last answer.

    One release waits at a time: its question is on screen. ``seen`` is what the person knew of its answers.
    """
    st.session_state["_request"] = (slot, uuid.uuid4().hex, seen)
    st.session_state["_receipts"].pop(slot, None)


def request_id(slot: str) -> str | None:
    """The id of the release that waits for its confirmation in this place, or None."""
    waiting = st.session_state["_request"]
    return waiting[1] if waiting is not None and waiting[0] == slot else None


def seen_before(slot: str) -> Known | None:
    """What the person knew of the answers to its question when the release that waits here was begun."""
    waiting = st.session_state["_request"]
    return waiting[2] if waiting is not None and waiting[0] == slot else None


def end_release(slot: str) -> None:
    """Nothing waits in this place any more."""
    if request_id(slot) is not None:
        st.session_state["_request"] = None


def release_done(slot: str, receipt: Any) -> None:
    """Keep the receipt on screen until another release is begun."""
    end_release(slot)
    st.session_state["_receipts"][slot] = receipt


def page_opened(name: str) -> None:
    """A release that was waiting on another page is forgotten: nobody looks at it any more."""
    if st.session_state.get("_page") != name:
        st.session_state["_page"] = name
        st.session_state["_request"] = None


def starting_sample() -> str | None:
    """The sample that is shown until somebody chooses data, once a page of questions was opened."""
    try:
        found: str | None = _state()["_example"]
    except KeyError:
        return None
    return found


def start_with(sample: str) -> None:
    """Show this sample until somebody chooses data."""
    _set_anew()
    st.session_state["_example"] = sample


def receipt(slot: str) -> Any | None:
    return st.session_state["_receipts"].get(slot)


def next_cost(cost: Cost | None, neighbours: str = "") -> None:
    """See ``NEXT_COST``."""
    NEXT_COST.put(None if cost is None else (cost, neighbours))


def dark() -> bool:
    """Whether this person sees the dark appearance."""
    return this_run.once(("dark",), lambda: st.context.theme.type == "dark")


# -- what a person has set, by control ---------------------------------------------------------------------------------


def value(control: Control[V]) -> V:
    """What a control is set to: by hand, else by the link this session began with, else its default.

    Something that the control does not take (any more) gives what it last took, else its default, and is told once
    where somebody asked for it. Looked for once in a run, until something is set.
    """
    run = this_run.kept()
    if run is None:
        return _value(control)
    values: dict[str, tuple[Control[Any], Any]] = run.setdefault("values", {})
    known = values.get(control.key)
    if known is not None and known[0] is control:
        held: V = known[1]
        return held
    found = _value(control)
    values[control.key] = (control, found)
    return found


def _set_anew() -> None:
    """Something was set: what was looked for in this run may be another."""
    run = this_run.kept()
    if run is not None:
        run.pop("values", None)


def _value(control: Control[V]) -> V:
    """As ``value``, looked for now."""
    state = _state()
    kept: dict[str, Any] = _book("_set")
    found: V | None = None
    refused = False
    try:
        given, here = state[control.key], True
    except KeyError:
        given, here = None, False
    if here:
        found = control.checked(given)
        refused = found is None and bool(control.refusal)
    elif control.key in kept:
        found = control.checked(kept[control.key])
        refused = found is None and control.key in _book("_named")
    elif control.carried and control.key in _book("_linked"):
        try:
            found = control.read(_book("_linked").pop(control.key))
        except Refused:
            refused = True
    if refused:
        by_click = control.key in _book("_named")
        _book("_unread").append(control.refusal or (_not_offered(control.label) if by_click else control.label))
    _book("_named").discard(control.key)
    if found is None:
        before = control.checked(kept[control.key]) if control.key in kept else None
        found = control.default if before is None else before
        if refused and here:
            del state[control.key]
    kept[control.key] = found
    if not control.carried:
        _book("_unlinked").add(control.key)
    return found


def _not_offered(label: str) -> str:
    return f"What was clicked for is not offered under “{label}” any more; the usual setting is shown instead."


def ready(control: Control[V]) -> str:
    """The key of the control's widget, with its value in place; call just before the widget is drawn.

    The value is put there in every run, also where it is the same: only then does Streamlit tell the browser. Told
    once, a widget behind a button that is opened later, or one that another page draws anew, would begin empty and send
    that back.
    """
    _state()[control.key] = value(control)
    return control.key


def change(key: str, new: Any) -> None:
    """Set a control by its key, from a callback or before it is drawn; it checks the value when it is read."""
    _set_anew()
    _book("_set")[key] = new
    _book("_named").discard(key)
    st.session_state.pop(key, None)


def change_all(sets: Mapping[str, Any]) -> None:
    """Set several controls by their keys, to what a click names: what is not taken is told."""
    for key, new in sets.items():
        change(key, new)
        _book("_named").add(key)


def unset(*keys: str) -> None:
    """Give controls their defaults again."""
    _set_anew()
    for key in keys:
        _book("_set").pop(key, None)
        st.session_state.pop(key, None)


def unlink(*keys: str) -> None:
    """Forget what the link says about these controls, where nobody has asked for them yet."""
    _set_anew()
    for key in keys:
        _book("_linked").pop(key, None)


def unclaimed() -> dict[str, str]:
    """What the link says that no control has asked for yet: a setting's key and its text."""
    return dict(_book("_linked"))


class Reader:
    """Reads controls for a question, and notes which it asked for and where on the page each belongs."""

    def __init__(self) -> None:
        self.placed: dict[Place, list[Control[Any]]] = {}
        self.held: dict[str, Any] = {}

    def __call__(self, control: Control[V], place: Place = "options") -> V:
        others = self.placed.setdefault(place, [])
        if all(control.key != other.key for other in others):
            others.append(control)
        _book("_controls")[control.key] = control
        found = self.held[control.key] = value(control)
        return found


def ask(control: Control[V]) -> V:
    """The value of a control that the page in view has, so that a link carries it."""
    _book("_controls")[control.key] = control
    return value(control)


def follow(settings: Mapping[str, str]) -> None:
    """Set everything to what a link says, as if the session had begun with it; from a callback, or before any drawing.

    What no link carries, such as choices about columns of a person's own file, stays as it is.
    """
    stays = set(unlinked())
    if settings.get("data") != OWN or EPSILON.key in settings:
        stays.discard(EPSILON.key)
    _set_anew()
    state = st.session_state
    for key in [key for key in _book("_set") if key not in stays]:
        unset(key)
    _book("_controls").clear()
    linked: dict[str, str] = _book("_linked")
    linked.clear()
    linked.update(settings)
    state["_linked_data"] = settings.get("data", "")
    state.pop("_example", None)
    state["_followed"] = True


def staying() -> list[str]:
    """The names of all that a session holds and a later one of the same tab takes over."""
    return [*Slot.staying(), "_set", "_unlinked"]


def take_over(held: Mapping[str, Any], *, settings: bool) -> None:
    """Hold what an earlier session of this tab held, by the names of ``staying``; from a callback.

    With ``settings`` its pages are set as they were there, also where the link this session began with says otherwise:
    it could not be read without what is taken over now.
    """
    _set_anew()
    ctx = get_script_run_ctx()
    if ctx is None:
        return
    with ctx.session_state._lock:  # in one piece: by ``st.session_state`` a run may be broken off at each of them
        state = ctx.session_state._state
        for name in Slot.staying():
            if name in held:
                state[name] = held[name]
        if not settings:
            return
        state["_linked"].clear()
        state["_unlinked"].update(held.get("_unlinked", ()))
        for key, found in held.get("_set", {}).items():
            state["_set"][key] = found
            if key in state:
                del state[key]


def unlinked() -> dict[str, Any]:
    """What is set that no link carries, by control: choices about columns of a person's own file, and ε beside it."""
    kept: dict[str, Any] = _book("_set")
    held = _book("_unlinked") | ({EPSILON.key} if epsilon_taken() else set())
    return {key: kept[key] for key in sorted(held & set(kept))}


def followed() -> bool:
    """Whether this run is the first to draw what a link says that was followed within the session."""
    return bool(st.session_state.get("_followed"))


def link(*without: str) -> dict[str, str]:
    """What a link to the view in hand carries, by control; complete once the page is drawn."""
    wanted: dict[str, str] = {}
    for key, control in _book("_controls").items():
        found = value(control)
        hidden = key in without or (key == EPSILON.key and epsilon_taken())  # a person's own file may have suggested it
        if control.carried and not hidden and found != control.default:
            wanted[key] = control.written(found)
    return wanted


def labels() -> dict[str, str]:
    """The controls of the page in view by key, with their words; complete once the page is drawn."""
    return {key: control.label for key, control in _book("_controls").items()}


def write_link() -> None:
    """Put into the address what the page in view is set to, where it differs from the defaults; last in every run."""
    state = st.session_state
    wanted = link()
    present = st.query_params.to_dict()
    mine = state["_written"] | set(_book("_controls"))
    for key in mine & set(present) - set(wanted):
        del st.query_params[key]
    changed = {key: text for key, text in wanted.items() if present.get(key) != text}
    if changed:
        st.query_params.update(changed)
    state["_written"] |= set(wanted)
    state["_followed"] = False


def unread() -> list[str]:
    """Sentences about what a link or a person asked for and could not get; each said once."""
    told: list[str] = [text for text in dict.fromkeys(_book("_unread")) if text.strip()]  # " ": said elsewhere
    _book("_unread").clear()
    labels = [text for text in told if not text.endswith(".")]
    named = ", ".join(f"“{label}”" for label in labels)
    usual = [f"The link asks for something that is not offered under {named}; the usual setting is shown instead."]
    return [text for text in told if text.endswith(".")] + (usual if labels else [])


# -- a control made of several widgets ---------------------------------------------------------------------------------


def seed(key: str, found: float) -> None:
    """Put one part of a control in place, in every run as in ``ready``; call just before its widget is drawn."""
    _set_anew()
    st.session_state[key] = found


def part_changed(control: Numbers, place: int) -> None:
    """Callback: one part of the control was typed."""
    now: tuple[float, ...] = value(control)
    parts = list(now)
    typed = st.session_state.get(f"{control.key}.{place}")
    parts[place] = parts[place] if typed is None else float(typed)
    change(control.key, tuple(parts))


def clicked(picture: str, values: Sequence[Any], key: str) -> None:
    """Callback: the control ``key`` takes the value of the mark that was clicked in ``picture``."""
    event = st.session_state.get(picture)
    points = [] if event is None else event["selection"]["points"]
    places = [point["point_index"] for point in points if "point_index" in point]
    if places and 0 <= places[0] < len(values):
        change(key, values[places[0]])


def note_open(control: Control[str], found: str) -> None:
    """Which view below the chart is open, so that a link opens it."""
    _set_anew()
    _book("_set")[control.key] = found
