"""No two choices of a list are shown alike.

A page sends back how a choice was shown, and Streamlit takes the last of those that are shown so. Names that people
give (of a budget, of a column, or cut to what fits) may be equal, and then whoever named theirs like another's would be
taken in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

_PIECE = 6


def apart(
    options: Iterable[Any], name: Callable[[Any], str], *, key: Callable[[Any], str] | None = None
) -> Callable[[Any], str]:
    """How each of ``options`` is shown: by its ``name``, and where that repeats with the end of its ``key`` (or else
    its number among them) behind it. What is none of them, as what somebody typed, has its name alone."""
    listed = list(dict.fromkeys(options))
    named = [name(one) for one in listed]
    often = Counter(named)
    shown = {one: label for one, label in zip(listed, named, strict=True) if often[label] == 1}
    taken = set(shown.values())
    for number, (one, label) in enumerate(zip(listed, named, strict=True), start=1):
        if often[label] > 1:
            shown[one] = next(told for told in _told(label, key(one) if key else "", number) if told not in taken)
            taken.add(shown[one])

    def say(one: Any) -> str:
        return shown[one] if one in shown else name(one)

    return say


def _told(label: str, key: str, number: int) -> Iterable[str]:
    """Ever more to tell ``label`` from others that are alike."""
    for piece in range(_PIECE, len(key) + 1):
        yield f"{label} · {key[-piece:]}"
    while True:
        yield f"{label} · {number}"
        number += 1
