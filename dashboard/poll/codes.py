"""The codes of rooms: how they are drawn, typed and shown, and at which of several replicas a code's room is.

A room lives in the memory of one server. So its code is drawn such that everybody can tell from it which one: HAProxy,
which sends a phone there, and every other replica, which says so to whoever types the code at a page of its own.
"""

from __future__ import annotations

import secrets
import zlib

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # no 0 and O, no 1, I and L
LENGTH = 8
PARAMETER, GO = "join", "go"
"""The parts of an address that hold a room's code, and by which somebody says that they go to its replica from the one
they are at (``along``)."""


def new_code(place: int = 1, replicas: int = 1) -> str:
    """A random code from the operating system's entropy, of a room at the ``place``-th of so many ``replicas``."""
    while True:
        code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        if place_of(code, replicas) == place:
            return code


def place_of(code: str, replicas: int) -> int | None:
    """At which replica, from 1, the room of a plain code is; None for what is no code. HAProxy works out the same."""
    return zlib.crc32(code.encode("ascii")) % replicas + 1 if len(code) == LENGTH else None


def plain_code(typed: str) -> str:
    """A code without spaces and dashes, in capitals."""
    return "".join(letter for letter in typed[:100].upper() if letter in ALPHABET)


def shown_code(code: str) -> str:
    """A code in two groups, to be read out."""
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"
