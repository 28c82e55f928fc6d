"""What a worker of a cluster does: say of which program it is, and one slice after the other.

Imported by workers on other computers, so it imports neither Streamlit nor a page. What goes back says no more of an
error than its name: a worker writes what is raised, with its words, into a log that the server's owner may not read.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

NUMBERS = ("numpy", "scipy", "numba", "pandas", "scikit-learn")
"""Packages that decide the last digits of a result."""
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Came:
    """What a slice found, or the name of what it raised."""

    value: Any = None
    error: str = ""


@cache
def program() -> str:
    """A digest of what decides every digit of a slice: this program's text, Python, and the packages that compute."""
    digest = sha256(f"{platform.python_version_tuple()[:2]} {platform.machine()}".encode())
    for name in NUMBERS:
        digest.update(f"{name} {version(name)} ".encode())
    for package in ("dpcore", "dashboard"):
        for file in sorted((_ROOT / package).rglob("*.py")):
            digest.update(file.relative_to(_ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@cache
def _one_thread() -> None:
    """As in the server's own worker processes: with several threads sums come out in another order."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def slice_of(work: Callable[[Any, Any], Any], value: Any, part: Any) -> Came:
    """``work(value, part)``."""
    _one_thread()
    try:
        return Came(value=work(value, part))
    except Exception as error:  # noqa: BLE001 - it goes back to who asked, by its name
        return Came(error=type(error).__name__)
