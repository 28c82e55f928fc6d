"""The pages of questions and the questions on them, found by discovery: there is no list to edit.

A page is a folder below ``dashboard/questions`` whose ``__init__`` defines ``PAGE``; a question is a file in it with a
class that has a ``key``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from dashboard.controls import Choice
from dashboard.plan import PlanKind
from dashboard.question import Kind
from dashboard.words import page as words
from dpcore.discovery import discover

_ROOT = "dashboard.questions"
FIRST_SAMPLE = "clinic"
"""The sample that is in use until somebody chooses, where a page has no example of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of questions: ``key`` is its folder and its address; ``asks`` and ``about`` present it on the start page.

    ``example`` is the sample it opens with until somebody chooses data; the usual one where it is empty.
    """

    key: str
    title: str
    icon: str
    rank: int
    asks: str
    about: str
    example: str = ""


@cache
def pages() -> tuple[Page, ...]:
    """Every page of questions, in the order of navigation. Raises RuntimeError for a folder without a ``PAGE``."""
    found = []
    for info in pkgutil.iter_modules(importlib.import_module(_ROOT).__path__):
        page = getattr(importlib.import_module(f"{_ROOT}.{info.name}"), "PAGE", None)
        if not isinstance(page, Page) or page.key != info.name:
            raise RuntimeError(f"{_ROOT}.{info.name} must define PAGE with the key {info.name!r}")
        found.append(page)
    return tuple(sorted(found, key=lambda page: (page.rank, page.key)))


_NEEDED = ("title", "rank", "once", "ways", "ask")


@cache
def questions(page: str) -> Mapping[str, type[Kind]]:
    """The questions of one page by key, in order. Raises RuntimeError for one that lacks what every question has."""
    found = discover(f"{_ROOT}.{page}")
    for kind in found.values():
        lacking = [name for name in _NEEDED if not hasattr(kind, name)]
        if lacking:
            raise RuntimeError(f"the question {kind.__name__} in {kind.__module__} has no {', no '.join(lacking)}")
    return MappingProxyType(dict(found))


def question_choice(page: Page) -> Choice[str]:
    """Which question of a page is asked, by its key."""
    kinds = questions(page.key)
    return Choice(
        key="question" if page.key == "selection" else f"{page.key}_question",
        label=words.QUESTION,
        options=tuple(kinds),
        names={key: kind.title for key, kind in kinds.items()},
        default=next(iter(kinds)),
        look="buttons",
        hide_label=True,
        once={name: key for key, kind in kinds.items() for name in kind.once},
    )


def every() -> list[tuple[Page, type[Kind]]]:
    """All questions with their pages, in order."""
    return [(page, kind) for page in pages() for kind in questions(page.key).values()]


def address(key: str) -> str:
    """The file of a page by its key, as Streamlit's links name it: a page of questions, or one of the product's own."""
    return f"questions/{key}/page.py" if any(page.key == key for page in pages()) else f"app_pages/{key}.py"


@cache
def plans() -> Mapping[str, PlanKind]:
    """The kinds of answers that questions bring to the budget's planner, by key. Raises RuntimeError for one twice."""
    found: dict[str, PlanKind] = {}
    for _, kind in every():
        for plan in getattr(kind, "plans", tuple)():
            if plan.key in found:
                raise RuntimeError(f"two questions plan answers under the key {plan.key!r}")
            found[plan.key] = plan
    return MappingProxyType(found)
