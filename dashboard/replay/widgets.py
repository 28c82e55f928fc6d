"""Commands that ask for something: what their widget holds is looked up each time, and who is called is told anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.form_utils import current_form_id
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata

from dashboard.replay import memory
from dashboard.replay.commands import Shown, again, shape
from dashboard.replay.memory import EAR, FOUND, Ear, Message, say

NAMES = (
    *("selectbox", "select_slider", "slider", "segmented_control", "pills", "multiselect", "radio"),
    *("number_input", "text_input", "text_area", "toggle", "checkbox", "button", "_bidi_component"),
    *("plotly_chart", "popover", "expander", "tabs"),
)
_CALLED = ("on_change", "on_click", "on_select")
_TOLD = frozenset({*_CALLED, "args", "kwargs"})


class Asked(NamedTuple):
    """What one command said while its widgets held what they did, and what it returned."""

    message: Message | Shown
    ids: tuple[tuple[str, str], ...]
    widgets: tuple[tuple[WidgetMetadata[Any], str | None, RegisterWidgetResult[Any]], ...]
    result: Any

    def for_everybody(self) -> Asked:
        """Without whom its widgets call: each run tells that anew."""
        return self._replace(widgets=tuple((_told_anew(one, {}), key, held) for one, key, held in self.widgets))


def replayed(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """The command ``name`` as a method: said again where its widget holds what it held, else by ``original``."""
    plain = getattr(original, "__wrapped__", original)

    def command(self: DeltaGenerator, *args: Any, **named: Any) -> Any:
        found = memory.here()
        if found is None:
            return original(self, *args, **named)
        kept, ctx, page = found
        dg = self._active_dg
        cursor = memory.cursor_of(dg)
        told = {one: value for one, value in named.items() if one in _TOLD or (one[:3] == "on_" and callable(value))}
        own = {one: value for one, value in named.items() if one not in told}
        if callable(own.get("format_func")):  # what it says of the options is what counts
            options = args[1] if len(args) > 1 else own.get("options", ())
            own["format_func"] = tuple(map(own["format_func"], options))
        calls = tuple((one, None if callable(value) else value) for one, value in told.items() if one[:3] == "on_")
        where = (page, dg._root_container, current_form_id(dg), calls)
        try:
            key = memory.key_of(name, where, args, own)
        except TypeError:
            return plain(self, *args, **named)
        shared = memory.shares_what_is_asked()
        asked: Asked | None = memory.recalled(kept, key) if shared else kept.get(key)
        before: dict[str, RegisterWidgetResult[Any]] = {}
        if asked is not None and cursor is not None and _free(ctx, asked):
            before = {
                metadata.id: ctx.session_state.register_widget(_told_anew(metadata, told), user_key)
                for metadata, user_key, _ in asked.widgets
            }
            if all(alike(before[metadata.id], result) for metadata, _, result in asked.widgets):
                if isinstance(asked.message, Shown):
                    return again(ctx, dg, cursor, asked.message, page)
                for kind, one in asked.ids:
                    memory.named(ctx, kind, one)
                path = memory.path_of(cursor)
                cursor._advance()
                say(ctx, asked.message, path, page)
                return _own(asked.result)
        place = None if cursor is None else memory.path_of(cursor)
        ear = Ear()
        token, found_before = EAR.set(ear), FOUND.set(before or FOUND.get())  # else what a part around it has found
        try:
            result = plain(self, *args, **named)
        finally:
            EAR.reset(token)
            FOUND.reset(found_before)
        made = _asked(ear, result, dg, place)
        if made is not None:
            size = sum(len(msg.delta.SerializeToString()) for msg in ear.messages)
            if shared:
                memory.keep(kept, key, made.for_everybody(), 3 * size)
            else:
                kept.put(key, made, size)
        return result

    command.__name__, command.__doc__ = name, original.__doc__
    return command


def _free(ctx: ScriptRunContext, asked: Asked) -> bool:
    """Whether no other element of this run has its ids; where one has, Streamlit says so."""
    taken, keys = ctx.shared.widget_ids_this_run, ctx.shared.widget_user_keys_this_run
    return not any(one in taken for _, one in asked.ids) and not any(key in keys for _, key, _ in asked.widgets if key)


def _nobody(*_: object, **__: object) -> None:
    """Who is called of an event that is kept for everybody."""


def _told_anew(metadata: WidgetMetadata[Any], told: dict[str, Any]) -> WidgetMetadata[Any]:
    """The widget with those to call whom this run names."""
    if metadata.callbacks is not None:
        # each event stays, also where nobody is called: whoever is told of it next may be
        return replace(
            metadata, callbacks={event: told.get(f"on_{event}_change", _nobody) for event in metadata.callbacks}
        )
    call = next((told[one] for one in _CALLED if callable(told.get(one))), None)
    args, named = (told.get("args"), told.get("kwargs")) if call is not None else (None, None)
    if metadata.callback is call and metadata.callback_args is args and metadata.callback_kwargs is named:
        return metadata
    return replace(metadata, callback=call, callback_args=args, callback_kwargs=named)


def alike(now: RegisterWidgetResult[Any], then: RegisterWidgetResult[Any]) -> bool:
    """Whether a widget holds what it held; numbers that are equal and of two types are two."""
    others = ("value_changed", "incoming_serialized_value", "incoming_serialized_values")
    if any(getattr(now, one) != getattr(then, one) for one in others):
        return False
    if isinstance(now.value, dict) and isinstance(then.value, dict):  # a component's, of a type made for each answer
        return dict(now.value) == dict(then.value)
    return bool(now.value == then.value) and _types(now.value) == _types(then.value)


def _types(value: Any) -> Any:
    return (type(value), tuple(map(type, value))) if isinstance(value, (list, tuple)) else type(value)


def _asked(ear: Ear, result: Any, dg: DeltaGenerator, path: tuple[int, ...] | None) -> Asked | None:
    """What a command did, if it can be done again."""
    boxes = result if isinstance(result, tuple) else (result,)  # several that were chosen are a tuple too
    if boxes and all(isinstance(box, DeltaGenerator) for box in boxes):
        said: Message | Shown | None = shape(ear, result, dg, path)
    elif len(ear.messages) == 1 and tuple(ear.messages[0].metadata.delta_path) == path:
        said = memory.said(ear.messages[0])
    else:
        said = None
    if said is None:
        return None
    held = tuple((metadata, key, replace(told, value=_own(told.value))) for metadata, key, told in ear.widgets)
    return Asked(said, tuple(ear.ids), held, None if isinstance(said, Shown) else _own(result))


def _own(value: Any) -> Any:
    """A list of its own: what a page does to its answer is not in the next one."""
    return list(value) if type(value) is list else value
