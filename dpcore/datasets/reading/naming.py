"""Names of columns: one for each, all different, and every change reported."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import lru_cache

from dpcore.datasets.report import Notice
from dpcore.datasets.text import skeleton

_LONGEST = 120
_NUMBERS = re.compile("([0-9]+)")
NAMELESS = "without a name"


def names(heading: list[list[str]], width: int, lines: tuple[int, ...]) -> tuple[list[str], list[Notice]]:
    """Names of ``width`` columns from no, one or two heading records, and what was changed about them."""
    notices: list[Notice] = []
    if not heading:
        return [f"column {place + 1}" for place in range(width)], [
            Notice(what="repaired", sentence="The columns have no names in the file; they are numbered.", count=width)
        ]
    rows = [[" ".join(cell.split()) for cell in (record + [""] * width)[:width]] for record in heading]
    if len(rows) == 2:
        wanted = _joined(rows[0], rows[1])
        notices.append(
            Notice(what="repaired", sentence="Two heading lines were joined into one name per column.", lines=lines)
        )
    else:
        wanted = rows[0]
    found: list[str] = []
    blank, long, twice = [], [], []
    taken = set[str]()
    counts = Counter(wanted)
    for place, name in enumerate(wanted):
        fresh = name
        if not name:
            fresh = f"column {place + 1}"
            blank.append(fresh)
        elif len(name) > _LONGEST:
            fresh = name[: _LONGEST - 1] + "…"
            long.append(fresh)
        number, base = 2, fresh
        while fresh in taken or (fresh != name and fresh in counts):
            fresh, number = f"{base} ({number})", number + 1
        if counts[name] > 1 and name and fresh != base:
            twice.append(fresh)
        taken.add(fresh)
        found.append(fresh)
    for what, changed in (
        ("A column without a name was numbered.", blank),
        (f"A name longer than {_LONGEST} characters was shortened.", long),
        ("A name that occurs more than once was numbered.", twice),
    ):
        if changed:
            notices.append(
                Notice(what="repaired", sentence=what, count=len(changed), lines=lines, columns=tuple(changed))
            )
    return found, [*notices, *_look_alikes(found)]


@lru_cache(maxsize=4096)
def by_itself(key: str) -> str:
    """What a cell's key calls its column, where each row names its own cells: the same whatever other keys there are,
    or one row's would change the column of all others."""
    name = " ".join(key.encode("utf-8", "replace").decode().split()) or NAMELESS
    if len(name) <= _LONGEST:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]  # two that begin alike are two
    return f"{name[: _LONGEST - 10]}… {mark}"


def _joined(groups: list[str], subs: list[str]) -> list[str]:
    """Group names carried on over gaps to their right, before the names below them."""
    bracketed = all(sub[0] in "([" for sub in subs if sub)
    joined, group = [], ""
    for above, sub in zip(groups, subs, strict=True):
        group = above or ("" if bracketed else group)
        joined.append(" ".join(dict.fromkeys(part for part in (group, sub) if part)))
    return joined


def _look_alikes(found: list[str]) -> list[Notice]:
    seen: dict[str, list[str]] = {}
    for name in found:
        seen.setdefault(skeleton(name), []).append(name)
    return [
        Notice(
            what="noticed",
            sentence="These columns have names that look alike; make sure to choose the right one.",
            count=len(alike),
            columns=tuple(alike),
        )
        for alike in seen.values()
        if len(alike) > 1
    ]


def alphabetical(name: str) -> list[tuple[int, str]]:
    """Where a column stands among those that records name themselves: in the order of their first appearance one record
    would decide with which column a page begins. Numbers within names go by their size."""
    words = _NUMBERS.split(name.casefold())
    numbers = [word.lstrip("0") for word in words[1::2]]
    words[1::2] = numbers
    return [(len(word) if place % 2 else 0, word) for place, word in enumerate(words)] + [(0, name)]
