"""What a page says again is not made again: the same command with the same arguments gives the message it gave.

A page is some hundred elements, and when one setting changes most of them are what they were. Streamlit makes each
anew: arguments checked, a message filled, copied, serialized and hashed. Here what a command said is kept, and said
again where the page now has it. What a browser gets is the same to the byte; a test draws every page both ways.

* ``memory``: what is kept, for how long, and of whom. By session: it goes with it, or with the file that a person takes
  back, for a text may hold what their file says. What is said about a sample (``common``) is kept for everybody too.
* ``commands``: those that show something or open a box.
* ``widgets``: those that ask for something; what they hold is looked up each time, and who is called is told anew.
* ``parts``: many of them together, where all that they hang on can be named.

``drawing`` stands around one run of the script; outside of it (callbacks, parts that draw themselves again) Streamlit
does everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib import utils
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.safe_session_state import SafeSessionState

from dashboard.replay import commands, memory, widgets
from dashboard.replay.memory import COMMON, Known, Memory, Same, asking, common, drawing, kept, unchanging
from dashboard.replay.parts import part

__all__ = [
    "COMMON",
    "Known",
    "Memory",
    "Same",
    "asking",
    "common",
    "drawing",
    "guard",
    "guarded",
    "kept",
    "part",
    "unchanging",
    "unguard",
]

_COMMANDS: dict[str, Callable[..., Any]] = {
    name: getattr(DeltaGenerator, name) for name in (*commands.NAMES, *widgets.NAMES)
}
_OURS = {name: commands.replayed(name, _COMMANDS[name]) for name in commands.NAMES} | {
    name: widgets.replayed(name, _COMMANDS[name]) for name in widgets.NAMES
}
_OURS |= {
    name: commands.replayed(name, _COMMANDS[name], asks=_OURS[name])
    for name in ("plotly_chart", "popover", "expander", "tabs")
}
_HEARD: dict[tuple[Any, str], tuple[Callable[..., Any], Callable[..., Any]]] = {
    (owner, name): (ours, getattr(owner, name))
    for owner, name, ours in (
        (ScriptRunContext, "enqueue", memory.enqueued),
        (SafeSessionState, "register_widget", memory.registered),
        (utils, "_register_element_id", memory.named),
    )
}


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    _set(_OURS, 0)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    _set(_COMMANDS, 1)


def guarded() -> bool:
    """Whether all of it is in its place; half of it would say again what it has not heard."""
    heard = all(getattr(owner, name) is both[0] for (owner, name), both in _HEARD.items())
    return heard and memory.LISTENS and all(getattr(DeltaGenerator, name) is ours for name, ours in _OURS.items())


def _set(methods: dict[str, Callable[..., Any]], which: int) -> None:
    memory.LISTENS = which == 0
    for name, method in methods.items():
        setattr(DeltaGenerator, name, method)
        if hasattr(streamlit, name):
            setattr(streamlit, name, getattr(streamlit._main, name))
    for (owner, name), both in _HEARD.items():
        setattr(owner, name, both[which])
