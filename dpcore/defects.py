"""A failure in our own code says that it is ours, with a reference that the log holds beside the place, never a value.

An exception's own words may quote cells of a person's file, so neither the log nor the sentence repeats them: the log
gets the kind of exception and the places in the code it passed, the person a number by which to find that entry.
"""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from dpcore.errors import Defect, DpcoreError

Result = TypeVar("Result")
_log = logging.getLogger("dpcore")


def as_defects(doing: str, work: Callable[[], Result]) -> Result:
    """What ``work()`` returns; any exception that it did not raise on purpose becomes a ``Defect``.

    ``doing`` completes "went wrong while …" and must hold nothing of the data. Memory that runs out stays MemoryError.
    """
    try:
        return work()
    except (DpcoreError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it says may hold cells of the file, so it goes no further
        reference = reported(error, doing)
    # Raised out here, so that the new exception does not carry the old one along.
    raise Defect(_sentence(doing, reference))


def defect(doing: str, kind: str, places: Sequence[str], advice: str = "") -> Defect:
    """A failure in another process, written to the log by its kind and places; ``advice`` is a sentence to go with it.

    None of them may hold anything of the data.
    """
    return Defect(" ".join(filter(None, [_sentence(doing, _logged(doing, kind, places)), advice])))


def logged(what: str) -> None:
    """A line in the log about what is no failure of ours; it must hold nothing of the data."""
    _log.warning("%s", what)


def _sentence(doing: str, reference: str) -> str:
    return (
        f"Something in this program went wrong while {doing}; your file is not at fault. "
        f"Tell the people who run it the reference {reference}."
    )


def reported(failure: BaseException, doing: str) -> str:
    """Write a failure to the log without a single value; returns the reference under which it stands there."""
    return _logged(doing, type(failure).__name__, places_of(failure))


def places_of(failure: BaseException) -> list[str]:
    """The places in the code that a failure passed, by file, line and function."""
    return [
        f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(failure.__traceback__)
    ]


def _logged(doing: str, kind: str, places: Sequence[str]) -> str:
    reference = secrets.token_hex(4).upper()
    _log.error("defect %s while %s: %s at %s", reference, doing, kind, " > ".join(places))
    return reference
