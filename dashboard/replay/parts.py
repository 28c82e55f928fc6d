"""A part of a page that is drawn from the same values is said again as a whole.

What it draws hangs on its key alone, and on what its widgets hold. These are looked up before anything is said, and
where one holds something else the part is drawn. A part in which somebody is called whom its key cannot name (a
function made while the page is drawn), or that offers a file, is drawn each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import streamlit
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata

from dashboard.replay import memory, widgets
from dashboard.replay.memory import FOUND, NOTES, Memory, Message, Notes, say


class Held(NamedTuple):
    """One widget of a part: who it is, what it held, and what the page had put there."""

    metadata: WidgetMetadata[Any]
    key: str | None
    result: RegisterWidgetResult[Any]
    put: bool


@dataclass(slots=True, eq=False)
class Part:
    """What a part did: its messages and where they stand from where it begins, its ids, its widgets, and how many
    elements it added there.
    """

    messages: tuple[tuple[Message, tuple[int, ...]], ...]
    ids: tuple[tuple[str, str], ...]
    widgets: tuple[Held, ...]
    top: int
    sent: tuple[tuple[Any, ...], list[bytes]] = ((), [])
    """Its last place, and how all of it was sent there, where it is small."""

    def size(self) -> int:
        """Bytes, about."""
        return sum(len(message.body) for message, _ in self.messages) + _WIDGET * len(self.widgets)


_WIDGET = 1000
"""Bytes that a widget takes: what it is made of, its options and what it held."""


def part(key: tuple[Hashable, ...], draw: Callable[[], object], *, told: bool = False) -> None:
    """Draw a part of the page here, or say it again where ``key`` is the same: everything that it hangs on.

    ``told``: the key tells whom its widgets call, and with what, and what the page puts into them.
    """
    found = memory.here()
    dg = streamlit._main._active_dg
    cursor = None if found is None else memory.cursor_of(dg)
    if found is None or cursor is None:
        draw()
        return
    kept, ctx, page = found
    begins = memory.path_of(cursor)
    name = ("part", page, dg._root_container, dg._form_data, *key)
    known: Part | None = memory.recalled(kept, name)
    before: dict[str, RegisterWidgetResult[Any]] = {}
    if known is not None and _free(ctx, known):
        before = {one.metadata.id: _held(ctx, one) for one in known.widgets}
        if all(widgets.alike(before[one.metadata.id], one.result) for one in known.widgets):
            for kind, one_id in known.ids:
                memory.named(ctx, kind, one_id)
            _say(ctx, known, begins, page)
            for _ in range(known.top):
                cursor._advance()
            return
    notes = Notes()
    token, answers = NOTES.set(notes), FOUND.set(before)
    try:
        draw()
    finally:
        NOTES.reset(token)
        FOUND.reset(answers)
    made = _part(notes, begins, cursor._index - begins[-1], told=told)
    if made is not None:
        # of this session is whom a widget calls and what the page has put into one, unless the key tells it
        keep = memory.keep if told or not made.widgets else Memory.put
        keep(kept, name, made, made.size())
    outer = NOTES.get()
    if outer is not None:
        outer.add(notes)


def _say(ctx: ScriptRunContext, known: Part, begins: tuple[int, ...], page: str) -> None:
    """All messages of a part, from where it begins; where a server sends them, as they were sent there before."""
    place, sent = known.sent
    alone = memory.AS_BYTES and NOTES.get() is None
    if alone and place == (begins, page):
        ctx._enqueue(sent)  # type: ignore[arg-type]
        return
    *box, first = begins
    for message, (offset, *rest) in known.messages:
        say(ctx, message, (*box, first + offset, *rest), page)
    if alone and not any(message.cacheable for message, _ in known.messages):
        # each looked at once: another session may say it elsewhere meanwhile
        last = [message.sent for message, _ in known.messages]
        places = [((*box, first + offset, *rest), page) for _, (offset, *rest) in known.messages]
        if [place for place, _ in last] == places:
            known.sent = (begins, page), [body for _, body in last]


def _held(ctx: ScriptRunContext, one: Held) -> RegisterWidgetResult[Any]:
    """What a widget holds now, once the page has put there what it did."""
    if one.put and one.key is not None:
        ctx.session_state[one.key] = one.result.value
    return ctx.session_state.register_widget(one.metadata, one.key)


def _free(ctx: ScriptRunContext, known: Part) -> bool:
    taken = ctx.shared.widget_ids_this_run
    return not any(one in taken for _, one in known.ids)


def _part(notes: Notes, begins: tuple[int, ...], top: int, *, told: bool) -> Part | None:
    """What was noted, if it can be done again."""
    *box, first = begins
    if not notes.plain:
        return None
    messages = []
    for message, path in notes.messages:
        if list(path[: len(box)]) != box or len(path) <= len(box):
            return None
        messages.append((message, (path[len(box)] - first, *path[len(box) + 1 :])))
    held = tuple(Held(*one) for one in notes.widgets.values())
    if not all(one.metadata.persist_state is None and (told or _calls_the_same(one.metadata)) for one in held):
        return None
    return Part(tuple(messages), tuple(notes.ids), held, top)


def _calls_the_same(metadata: WidgetMetadata[Any]) -> bool:
    """Whether whom a widget calls is told by its key: a function of a module, with plain values."""
    if metadata.callbacks is not None:
        return False
    call, args = metadata.callback, (*(metadata.callback_args or ()), *(metadata.callback_kwargs or {}).values())
    plain = call is None or (isinstance(call, FunctionType) and "<" not in call.__qualname__)
    return plain and all(isinstance(one, (str, int, float, bool, type(None))) for one in args)
