"""Work on many cells is stopped on its way: whoever begins it says what is asked between them, which may raise.

What Arrow and NumPy do of a column is over in a moment; what Python does word by word takes a hundred times as long, in
places that know nothing of who waits for it. So those go through ``each``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
Ask = Callable[[], None]
EVERY = 2_000
"""Words that Python looks at between two questions whether to go on: some hundredths of a second."""
_HERE = threading.local()


@contextmanager
def asking(ask: Ask) -> Iterator[None]:
    """Whoever works on many cells in this thread asks this meanwhile."""
    before = getattr(_HERE, "ask", None)
    _HERE.ask = ask
    try:
        yield
    finally:
        _HERE.ask = before


def go_on() -> None:
    """Ask whether to. Raises what whoever asks for the work raises where it is not wanted any more."""
    ask: Ask | None = getattr(_HERE, "ask", None)
    if ask is not None:
        ask()


def each(words: Iterable[T]) -> Iterator[T]:
    """As they are, with a question before the first and after every few."""
    for place, word in enumerate(words):
        if place % EVERY == 0:
            go_on()
        yield word
