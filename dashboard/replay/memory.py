"""What one session's page said lately, and how a command is listened to while it says something for the first time."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import pandas as pd
from streamlit.cursor import RunningCursor, get_container_cursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib import utils
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed
from streamlit.runtime.runtime_util import serialize_forward_msg
from streamlit.runtime.scriptrunner_utils.script_run_context import (
    ScriptRunContext,
    ThreadState,
    _thread_state,
    get_script_run_ctx,
)
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata
from streamlit.runtime.state.safe_session_state import SafeSessionState

from dpcore.weight import weight

T = TypeVar("T")
_NONE = id(None)
ROOM = 3 << 19
"""Bytes that a session keeps: a page of questions is 100 to 500 kB, and a step of ε changes half of them."""
EVERYBODYS = 48 << 20
"""Bytes of what pages about samples said, which is the same for everybody."""
_EACH = 600
"""Bytes that an entry takes beside what it says."""


class Same:
    """A key for a value that is known by which one it is. The value is not kept by it, where it can be gone: then the
    key equals no other one any more, and what a person's file made does not stay for as long as what was said of it.
    """

    __slots__ = ("_id", "_value")

    def __init__(self, value: object) -> None:
        self._id = id(value)
        try:
            self._value: Callable[[], object] = weakref.ref(value)
        except TypeError:  # a dictionary, a tuple, a text
            self._value = lambda: value

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Same) or other._id != self._id:
            return False
        value = self._value()
        return value is other._value() and (value is not None or self._id == _NONE)


class Known(dict[str, Any]):
    """What a component is told, known by which one it is: it is long, and changed by nobody."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


@dataclass(slots=True)
class Message:
    """A message without its place: what it says, its hash, and whether a browser keeps it; and as it was last sent."""

    body: bytes
    hash: str
    cacheable: bool
    sent: tuple[tuple[Any, ...], bytes] = ((), b"")
    """Its last place, and how it was sent there: in one, for several sessions may say it at a time."""


class Memory:
    """The latest things said, within ``ROOM`` bytes. Two runs of one session may overlap for a moment."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Any, int]] = {}
        self._bytes = 0

    def get(self, key: Hashable) -> Any:
        """What was said by ``key``; None where it is not known any more."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        self._kept[key] = found  # the latest stands last
        return found[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        before = self._kept.pop(key, None)
        self._kept[key] = (value, size + _EACH)
        self._bytes += size + _EACH - (before[1] if before is not None else 0)

    def begin(self) -> None:
        """Another run begins: what has not been used for the longest time goes first."""
        if self._bytes > ROOM:
            entries, held = list(self._kept.copy().items()), 0
            for place in range(len(entries) - 1, -1, -1):
                held += entries[place][1][1]
                if held > ROOM // 2:
                    entries = entries[place + 1 :]
                    break
            self._kept = dict(entries)
            self._bytes = sum(size for _, (_, size) in entries)

    def clear(self) -> None:
        self._kept.clear()
        self._bytes = 0


class Everybodys:
    """What pages about samples said lately, to whomever, within ``room`` bytes; from any thread."""

    def __init__(self, room: int = EVERYBODYS) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable) -> tuple[Any, int] | None:
        """What was said by ``key``, and its bytes."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Hashable, value: Any, size: int) -> None:
        with self._lock:
            before = self._kept.pop(key, None)
            self._bytes += size + _EACH - (before[1] + _EACH if before is not None else 0)
            self._kept[key] = (value, size)
            while self._bytes > self._room:
                self._bytes -= self._kept.popitem(last=False)[1][1] + _EACH

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._bytes = 0


COMMON = Everybodys()
_SHARES: ContextVar[bool] = ContextVar("shares", default=False)


@contextmanager
def common(shares: bool = True) -> Iterator[None]:
    """While something is drawn that says the same to everybody who asks the same, because it is about a sample. Where
    it ``shares`` nothing: something within that is one visitor's.
    """
    before = _SHARES.set(shares)
    try:
        yield
    finally:
        _SHARES.reset(before)


_ASKS: ContextVar[bool] = ContextVar("asks", default=False)


@contextmanager
def asking() -> Iterator[None]:
    """While something is asked that begins the same for everybody, where what is drawn is common."""
    before = _ASKS.set(True)
    try:
        yield
    finally:
        _ASKS.reset(before)


def shares_what_is_asked() -> bool:
    """Whether a widget is one for everybody now; what it holds is each one's own."""
    return _SHARES.get() and _ASKS.get()


def recalled(memory: Memory, key: Hashable) -> Any:
    """What was said by ``key`` in this session, or, of what is common, in any; None where nobody did."""
    if _SHARES.get() and (known := COMMON.get(key)) is not None:
        return known[0]
    return memory.get(key)


def keep(memory: Memory, key: Hashable, value: Any, size: int) -> None:
    """Keep what was said by ``key``, which tells all of it: what is common once for all, and not in each session."""
    if _SHARES.get():
        COMMON.put(key, value, size)
    else:
        memory.put(key, value, size)


_UNCHANGING: WeakValueDictionary[int, pd.DataFrame] = WeakValueDictionary()
PLAIN = frozenset(
    {"markdown", "heading", "badge", "metric", "space", "html", "page_link", "alert", "progress", "plotly_chart"}
    | {"selectbox", "slider", "button_group", "multiselect", "radio", "number_input", "text_input", "text_area"}
    | {"checkbox", "button", "bidi_component"}
)
"""Elements of which a message is all, by the field that holds them."""
LISTENS = False
"""Whether commands are listened to in this process (``guard``)."""
AS_BYTES = False
"""Whether what was said before is handed on as bytes: where ``outgoing`` takes it."""
LARGE = 1 << 14
"""Bytes of a message above which it is not kept twice."""


@dataclass(slots=True)
class Ear:
    """What a command does besides returning something, while it is listened to."""

    messages: list[ForwardMsg] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    widgets: list[tuple[WidgetMetadata[Any], str | None, RegisterWidgetResult[Any]]] = field(default_factory=list)


_RUN: ContextVar[tuple[Memory, ScriptRunContext] | None] = ContextVar("said", default=None)


@dataclass(slots=True)
class Notes:
    """All that a part of a page does while it is drawn. ``plain``: nothing but what can be said again."""

    messages: list[tuple[Message, tuple[int, ...]]] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    widgets: dict[str, tuple[WidgetMetadata[Any], str | None, RegisterWidgetResult[Any], bool]] = field(
        default_factory=dict
    )
    plain: bool = True

    def add(self, inner: Notes) -> None:
        """A part within this one."""
        self.messages += inner.messages
        self.ids += inner.ids
        self.widgets |= inner.widgets
        self.plain &= inner.plain


NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)
EAR: ContextVar[Ear | None] = ContextVar("ear", default=None)
FOUND: ContextVar[dict[str, RegisterWidgetResult[Any]] | None] = ContextVar("found", default=None)
"""What widgets hold that were registered a moment ago, by id: a command that registers them again is told the same."""


@contextmanager
def drawing(memory: Memory) -> Iterator[None]:
    """One run of the script in a session that remembers by ``memory``."""
    memory.begin()
    ctx = get_script_run_ctx(suppress_warning=True)
    before = _RUN.set((memory, ctx) if LISTENS and ctx is not None and not ctx.gather_usage_stats else None)
    try:
        yield
    finally:
        _RUN.reset(before)


def kept(key: Hashable, make: Callable[[], T], *, large: bool = False) -> T:
    """What was made by ``key`` while this session's page was drawn lately, or now. Never None. The key holds everything
    that it depends on; what may be ``large`` counts with all that it holds."""
    run = _RUN.get()
    if run is None:
        return make()
    memory = run[0]
    found: T | None = recalled(memory, key)
    if found is None:
        found = make()
        keep(memory, key, found, weight(found) if large else 0)
    return found


def here() -> tuple[Memory, ScriptRunContext, str] | None:
    """This session's memory, its run and the page it draws; None where Streamlit does everything."""
    run = _RUN.get()
    if run is None or EAR.get() is not None:
        return None
    state = _thread_state.get()
    return None if state.fragment_id is not None else (*run, state.active_script_hash)


def key_of(name: str, where: Hashable, args: tuple[Any, ...], named: dict[str, Any]) -> Hashable:
    """Equal for equal calls alone: 1, 1.0 and True are three. Raises TypeError for what cannot be compared."""
    values = tuple(map(_comparable, (*args, *named.values())))
    key = (name, where, len(args), tuple(named), values, tuple(map(type, values)))
    hash(key)
    return key


def unchanging(frame: pd.DataFrame) -> pd.DataFrame:
    """A table that nobody changes from now on, and that is known by which one it is."""
    _UNCHANGING[id(frame)] = frame
    return frame


_TOLD_APART = frozenset({str, bytes, int, bool, type(None), Same, Known})
"""Values of these types are equal where they are the same in every way."""
_PLAINLY_APART = frozenset({*_TOLD_APART, float})
"""So are numbers, but for zeros."""
_BY_WHICH_ONE: Any = object.__eq__


def _comparable(value: Any) -> Any:
    if type(value) in _TOLD_APART:
        return value
    if type(value) is float:
        return value if value else (float, repr(value))  # -0.0 is equal to 0.0
    if type(value) is list or type(value) is tuple:
        kinds = tuple(map(type, value))
        plain = _PLAINLY_APART.issuperset(kinds) and (float not in kinds or 0.0 not in value)
        return (type(value), tuple(value) if plain else tuple(map(_comparable, value)), kinds)
    if type(value) is dict:
        return (dict, tuple((name, type(part), _comparable(part)) for name, part in value.items()))
    if isinstance(value, pd.DataFrame) and _UNCHANGING.get(id(value)) is value:
        return Same(value)
    if type(value).__eq__ is not _BY_WHICH_ONE:  # such as 1.0 and 1.00 of ``decimal``
        raise TypeError(f"nothing tells two of {type(value).__name__} apart for certain")
    return value


def said(msg: ForwardMsg) -> Message:
    """A message to be said again."""
    bare = ForwardMsg()
    bare.CopyFrom(msg)
    bare.ClearField("metadata")
    return Message(bare.SerializeToString(), msg.hash, msg.metadata.cacheable)


def say(ctx: ScriptRunContext, message: Message, path: tuple[int, ...], page: str) -> None:
    """A message that was said before, at ``path``. Where a server sends it, as the very bytes of the last time."""
    notes = NOTES.get()
    if notes is not None:
        notes.messages.append((message, path))
    place, known = (path, page), message.cacheable and message.hash in ctx.cached_message_hashes
    before, sent = message.sent
    if AS_BYTES and not known and before == place:
        ctx._enqueue(sent)  # type: ignore[arg-type]
        return
    msg = ForwardMsg(ref_hash=message.hash) if known else ForwardMsg.FromString(message.body)
    metadata = msg.metadata
    metadata.cacheable = message.cacheable and not known
    metadata.delta_path[:] = path
    metadata.active_script_hash = page
    if AS_BYTES and not known and len(message.body) < LARGE:
        message.sent = place, serialize_forward_msg(msg)
    ctx._enqueue(msg)


def cursor_of(dg: DeltaGenerator) -> RunningCursor | None:
    """Where ``dg`` goes on, where that moves on with what is put there."""
    cursor = dg._provided_cursor
    if cursor is None:
        cursor = get_container_cursor(dg._root_container)
    return cursor if type(cursor) is RunningCursor else None


def path_of(cursor: RunningCursor) -> tuple[int, ...]:
    """Where the next element stands."""
    return (cursor._root_container, *cursor._parent_path, cursor._index)


def enqueued(ctx: ScriptRunContext, msg: ForwardMsg) -> None:
    """``ScriptRunContext.enqueue``, with an ear for who wants to say it again."""
    msg.metadata.active_script_hash = ThreadState.get().active_script_hash
    populate_hash_if_needed(msg)
    ear = EAR.get()
    if ear is not None:
        ear.messages.append(msg)
    notes = NOTES.get()
    if notes is not None:
        notes.plain &= _is_plain(msg)
        notes.messages.append((said(msg), tuple(msg.metadata.delta_path)))
    known = msg.metadata.cacheable and msg.hash and msg.hash in ctx.cached_message_hashes
    ctx._enqueue(create_reference_msg(msg) if known else msg)


def registered(
    safe: SafeSessionState, metadata: WidgetMetadata[Any], user_key: str | None
) -> RegisterWidgetResult[Any]:
    """``SafeSessionState.register_widget``, which says once what a widget holds."""
    found = FOUND.get()
    result = None if found is None else found.pop(metadata.id, None)
    if result is None:
        result = _register(safe, metadata, user_key)
    else:
        with safe._lock:
            safe._state._set_widget_metadata(metadata)
    ear = EAR.get()
    if ear is not None:
        ear.widgets.append((metadata, user_key, result))
    notes = NOTES.get()
    if notes is not None:
        value = list(result.value) if type(result.value) is list else result.value
        put = user_key is not None and user_key in safe._state._new_session_state
        notes.widgets[metadata.id] = (metadata, user_key, replace(result, value=value), put)
    return result


def named(ctx: ScriptRunContext, element_type: str, element_id: str) -> None:
    """``_register_element_id``: an id that no other element of this run may have. Raises what that does."""
    _name(ctx, element_type, element_id)
    ear = EAR.get()
    if ear is not None:
        ear.ids.append((element_type, element_id))
    notes = NOTES.get()
    if notes is not None:
        notes.ids.append((element_type, element_id))


def _is_plain(msg: ForwardMsg) -> bool:
    """Whether a message is all that an element is: no file to fetch, no form, nothing that draws itself again."""
    if msg.WhichOneof("type") != "delta" or msg.delta.fragment_id:
        return False
    kind = msg.delta.WhichOneof("type")
    if kind == "new_element":
        return msg.delta.new_element.WhichOneof("type") in PLAIN
    return kind == "add_block" and msg.delta.add_block.WhichOneof("type") not in ("form", "dialog", "chat_message")


_register = SafeSessionState.register_widget
_name = utils._register_element_id
