"""Commands that show something and hold nothing, and those that open a box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from streamlit.cursor import Cursor, RunningCursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.form_utils import FormData, current_form_id
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from dashboard.replay import memory
from dashboard.replay.memory import EAR, Ear, Message, say

NAMES = (
    *("markdown", "caption", "title", "header", "subheader", "badge", "metric", "space", "latex", "html", "page_link"),
    *("info", "warning", "error", "success", "progress", "dataframe"),
    *("container", "columns", "grid", "expander", "popover", "tabs"),
)


_USUAL = frozenset(vars(DeltaGenerator(None)))
_PLAIN = (bool, int, str, type(None))


class Shown(NamedTuple):
    """What one command said: a message, and for a box what kind it is, the ids it took, and the boxes within it."""

    message: Message
    box: str | None = None
    kind: type[DeltaGenerator] | None = None
    ids: tuple[tuple[str, str], ...] = ()
    inside: tuple[Shown, ...] = ()
    row: type | None = None
    """In what the boxes within it are returned, instead of itself."""
    parts: tuple[tuple[str, Any], ...] = ()
    """What a box holds of itself beside its place: whether it is open, how many columns it has."""
    aside: bool = False
    """Whether it stands where nothing is shown: a style."""


def replayed(name: str, original: Callable[..., Any], *, asks: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The command ``name`` as a method: said again where it was said before, else by ``original``.

    ``asks`` is the command where it is a widget: a chart of which something can be selected, a box that says whether it
    is open.
    """
    plain = getattr(original, "__wrapped__", original)

    def command(self: DeltaGenerator, *args: Any, **named: Any) -> Any:
        called = named.get("on_select", named.get("on_change", "ignore")) != "ignore"
        if called and asks is not None:
            return asks(self, *args, **named)
        found = memory.here()
        if found is None or called:
            return original(self, *args, **named)
        kept, ctx, page = found
        try:
            key = memory.key_of(name, page, args, named)
        except TypeError:
            return plain(self, *args, **named)
        shown: Shown | None = memory.recalled(kept, key)
        dg = self._event_dg if shown is not None and shown.aside else self._active_dg
        cursor = memory.cursor_of(dg)
        if shown is not None and cursor is not None and (not shown.ids or _free(ctx, shown)):
            return again(ctx, dg, cursor, shown, page)
        path = None if cursor is None else memory.path_of(cursor)
        ear = Ear()
        token = EAR.set(ear)
        try:
            result = plain(self, *args, **named)
        finally:
            EAR.reset(token)
        made = None if ear.widgets else shape(ear, result, dg, path)
        if made is None and name == "html" and _stands_aside(ear, self._event_dg):
            made = Shown(memory.said(ear.messages[0]), aside=True)
        if made is not None:
            memory.keep(kept, key, made, len(made.message.body))
        return result

    command.__name__, command.__doc__ = name, original.__doc__
    return command


def _free(ctx: ScriptRunContext, shown: Shown) -> bool:
    """Whether no other element of this run has its ids; where one has, Streamlit says so."""
    return not any(one in ctx.shared.widget_ids_this_run for _, one in shown.ids)


def _stands_aside(ear: Ear, dg: DeltaGenerator) -> bool:
    """Whether a command said one thing, and said it there."""
    cursor = memory.cursor_of(dg)
    if cursor is None or len(ear.messages) != 1 or ear.ids or ear.widgets:
        return False
    *before, last = memory.path_of(cursor)
    return [*ear.messages[0].metadata.delta_path] == [*before, last - 1]


def shape(ear: Ear, result: Any, dg: DeltaGenerator, path: tuple[int, ...] | None) -> Shown | None:
    """What a command did, if it is of a shape that can be done again: one element, one box, or boxes in a row."""
    outs = list(result) if isinstance(result, (list, tuple)) else [result]
    first = ear.messages[0] if ear.messages else None
    if first is None or tuple(first.metadata.delta_path) != path or not _all_boxes(outs):
        return None
    ids = tuple(ear.ids)
    if outs[0] is result:
        if len(ear.messages) != 1:
            return None
        if not first.delta.HasField("add_block"):
            return Shown(memory.said(first), ids=ids)
        return _box(first, result)._replace(ids=ids) if result._parent is dg else None
    row = outs[0]._parent
    if len(ear.messages) != len(outs) + 1 or row._parent is not dg:
        return None
    inside = tuple(_box(msg, out) for msg, out in zip(ear.messages[1:], outs, strict=True))
    return _box(first, row)._replace(ids=ids, inside=inside, row=type(result))


def _box(msg: ForwardMsg, box: DeltaGenerator) -> Shown:
    return Shown(memory.said(msg), box._block_type, type(box), parts=_parts(box))


def _all_boxes(outs: list[Any]) -> bool:
    """Whether these are elements or boxes that hold nothing but their place and plain values."""
    return bool(outs) and all(
        isinstance(out, DeltaGenerator) and all(isinstance(value, _PLAIN) for _, value in _parts(out)) for out in outs
    )


def _parts(box: DeltaGenerator) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in vars(box).items() if name not in _USUAL)


def again(ctx: ScriptRunContext, dg: DeltaGenerator, cursor: RunningCursor, shown: Shown, page: str) -> Any:
    """Say it where ``dg`` is now; what the command returned then, made for this place."""
    for kind, one in shown.ids:
        memory.named(ctx, kind, one)
    out = _placed(ctx, dg, cursor, shown, page)
    if shown.row is None:
        return out
    inner: Any = memory.cursor_of(out)
    return shown.row(_placed(ctx, out, inner, part, page) for part in shown.inside)


def _placed(
    ctx: ScriptRunContext, dg: DeltaGenerator, cursor: RunningCursor, shown: Shown, page: str
) -> DeltaGenerator:
    path = memory.path_of(cursor)
    here: Cursor = cursor.lock_element() if shown.kind is None else cursor.open_block()
    if shown.kind is None:
        out = DeltaGenerator(dg._root_container, here, dg)
    else:
        out = shown.kind(dg._root_container, here, dg, shown.box)
        vars(out).update(shown.parts)
    out._form_data = dg._form_data or FormData(current_form_id(dg))
    say(ctx, shown.message, path, page)
    return out
