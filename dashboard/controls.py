"""What a person can set, as values: a control knows its options, its default, and how a link writes its value.

Nothing here draws. A question asks for the value of a control (``Read``); who draws the page finds the same control
again and gives it a place. A value that a control does not take, from a link or from another table's column, is
replaced by the default.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeGuard, TypeVar

from dashboard.case import OWN

T = TypeVar("T")
Option = TypeVar("Option", bound=Hashable)
Place = Literal["sentence", "options", "axis", "need", "tab"]
Look = Literal["list", "buttons", "scale"]

FEW = 12
"""Options that are shown all at once; more are a list."""
LONGEST_LINKED = 1500
"""Characters of one value in a link; a longer one is not read."""
FARTHEST = 1e15
"""Beyond it a number says nothing that a picture could show, and sums and whole numbers made of it fail; data that are
larger themselves set what may be."""
_OF_OWN = re.compile(rf"(?<![0-9A-Za-z]){OWN}(?:~1|-[0-9a-f]{{12}}(?![0-9A-Za-z]))")
"""In a key, the name of a person's own table: by ``slug``, or as it stands."""


class Refused(ValueError):
    """A text from a link that is not a value of the control."""


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Control(Generic[T]):
    """One thing to set.

    ``key`` is stable: it names the value in the session and in a link, whatever the words on the control are.
    ``linked`` is False for what a link must not carry, such as names of a person's own columns; ``carried`` is whether
    one does. ``refusal`` is said where a value is not taken, instead of the usual sentence; a blank says nothing.
    ``width`` in pixels.
    """

    key: str
    label: str
    default: T
    help: str | None = None
    linked: bool = True
    refusal: str = ""
    width: int | None = None

    @property
    def carried(self) -> bool:
        """Whether a link carries it: never under a key that names a person's own table, whatever is said of it."""
        return self.linked and _OF_OWN.search(self.key) is None

    def checked(self, value: Any) -> T | None:
        """``value`` as this control takes it, or None where it does not."""
        raise NotImplementedError

    def written(self, value: T) -> str:
        """``value`` as a link carries it."""
        raise NotImplementedError

    def read(self, text: str) -> T:
        """The value that a link's text stands for. Raises Refused."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Choice(Control[Option]):
    """One of ``options``. ``names`` are their words; a link carries the option itself, never its words.

    ``code`` turns an option into the text of a link (its own text unless given). ``once`` maps texts of older links to
    options: the words that once stood on the control.
    """

    options: Sequence[Option]
    names: Mapping[Option, str] | Callable[[Option], str] = str
    look: Look = "list"
    hide_label: bool = False
    code: Callable[[Option], str] = str
    once: Mapping[str, Option] = field(default_factory=dict)

    def name(self, option: Option) -> str:
        """The words for an option."""
        return self.names(option) if callable(self.names) else self.names[option]

    def checked(self, value: Any) -> Option | None:
        for option in self.options:
            if type(value) is type(option) and value == option:
                return option
        return None

    def written(self, value: Option) -> str:
        return self.code(value)

    def read(self, text: str) -> Option:
        for option in self.options:
            if text == self.code(option):
                return option
        if text in self.once:
            found = self.checked(self.once[text])
            if found is not None:
                return found
        for option in self.options:  # links from before carried the words
            if text == self.name(option):
                return option
        raise Refused(text)


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Several(Control[tuple[str, ...]]):
    """Any of ``options``, in their order; at least ``least`` of them where there are as many.

    What is not offered (any more) is refused with all that came with it, or with ``keeps`` left out alone.
    """

    options: Sequence[str]
    names: Callable[[str], str] = str
    least: int = 0
    keeps: bool = False

    def checked(self, value: Any) -> tuple[str, ...] | None:
        if not isinstance(value, (list, tuple)):
            return None
        chosen = {one for one in value if isinstance(one, str)}
        if self.keeps:
            chosen &= set(self.options)
        if not chosen <= set(self.options) or len(chosen) < min(self.least, len(self.options)):
            return None
        return tuple(option for option in self.options if option in chosen)

    def written(self, value: tuple[str, ...]) -> str:
        return json.dumps(list(value), ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str) -> tuple[str, ...]:
        found = self.checked(_plain(text))
        if found is None:
            raise Refused(text)
        return found


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Number(Control[float]):
    """A number from ``low`` to ``high``; a whole one where ``whole`` says so."""

    low: float = -math.inf
    high: float = math.inf
    step: float = 1.0
    whole: bool = False
    hide_label: bool = False

    def checked(self, value: Any) -> float | None:
        if not is_number(value) or not _near(value, self.default, self.low, self.high):
            return None
        if not self.low <= value <= self.high:
            return None
        return (float(int(value)) if self.whole else float(value)) + 0.0  # not -0.0, which is equal and another

    def written(self, value: float) -> str:
        return f"{value:.12g}"

    def read(self, text: str) -> float:
        try:
            found = self.checked(float(text))
        except ValueError:
            found = None
        if found is None:
            raise Refused(text)
        return found


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Switch(Control[bool]):
    """On or off."""

    def checked(self, value: Any) -> bool | None:
        return value if isinstance(value, bool) else None

    def written(self, value: bool) -> str:
        return "on" if value else "off"

    def read(self, text: str) -> bool:
        known = {"on": True, "true": True, "off": False, "false": False}
        if text not in known:
            raise Refused(text)
        return known[text]


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Name(Control[str]):
    """A name from a link that something else looks up: letters, digits and ``~-_``, or nothing."""

    def checked(self, value: Any) -> str | None:
        if not isinstance(value, str) or len(value) > LONGEST_LINKED:
            return None
        return value if all(one.isascii() and (one.isalnum() or one in "~-_") for one in value) else None

    def written(self, value: str) -> str:
        return value

    def read(self, text: str) -> str:
        found = self.checked(text)
        if found is None:
            raise Refused(text)
        return found


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Numbers(Control[tuple[float, ...]]):
    """Several numbers edited side by side, such as the counts behind a picture: one for each of ``names``.

    A link carries those that differ from the default.
    """

    names: tuple[str, ...]
    low: float | None = None
    step: float = 1.0

    def checked(self, value: Any) -> tuple[float, ...] | None:
        if not isinstance(value, (list, tuple)) or len(value) != len(self.names):
            return None
        numbers = tuple(float(one) + 0.0 for one in value if is_number(one) and _near(one, *self.default))
        small = self.low is not None and any(one < self.low for one in numbers)
        return None if small or len(numbers) != len(self.names) else numbers

    def written(self, value: tuple[float, ...]) -> str:
        changed = {
            str(place): new
            for place, (new, old) in enumerate(zip(value, self.default, strict=True))
            if new != old  # exact: these are what was typed
        }
        return json.dumps(changed, separators=(",", ":"))

    def read(self, text: str) -> tuple[float, ...]:
        changed = _plain(text)
        if not isinstance(changed, dict):
            raise Refused(text)
        values: list[Any] = list(self.default)
        for place, new in changed.items():
            if not (place.isascii() and place.isdigit()) or len(place) > 6 or int(place) >= len(values):
                raise Refused(text)
            values[int(place)] = new
        found = self.checked(values)
        if found is None:
            raise Refused(text)
        return found


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Kept(Control[tuple[tuple[tuple[str, str], ...], ...]]):
    """Named scenarios, each a row of (what, value) pairs, at most ``most`` of them."""

    most: int = 4

    def checked(self, value: Any) -> tuple[tuple[tuple[str, str], ...], ...] | None:
        if not isinstance(value, (list, tuple)) or len(value) > self.most:
            return None
        rows = []
        for row in value:
            pairs = row.items() if isinstance(row, dict) else row
            if not isinstance(row, (dict, list, tuple)):
                return None
            try:
                rows.append(tuple((str(name)[:80], str(said)[:80]) for name, said in pairs))
            except (TypeError, ValueError):
                return None
        return tuple(rows)

    def written(self, value: tuple[tuple[tuple[str, str], ...], ...]) -> str:
        return json.dumps([dict(row) for row in value], ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str) -> tuple[tuple[tuple[str, str], ...], ...]:
        found = self.checked(_plain(text))
        if found is None:
            raise Refused(text)
        return found


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Group:
    """Several controls behind one button in the sentence of a question. ``notes`` stand under them in small print."""

    label: str
    controls: tuple[Control[Any], ...]
    notes: tuple[str, ...] = ()
    icon: str = ":material/tune:"


class Read(Protocol):
    """Gives the value of a control as it is set now, and notes where on the page the control belongs."""

    def __call__(self, control: Control[T], place: Place = "options") -> T: ...


@dataclass(slots=True)
class Setting:
    """A ``Read`` over plain values: for tests, reports, and whatever asks a question without a page."""

    values: Mapping[str, Any] = field(default_factory=dict)
    seen: dict[str, tuple[Place, Control[Any]]] = field(default_factory=dict)

    def __call__(self, control: Control[T], place: Place = "options") -> T:
        self.seen[control.key] = (place, control)
        found = control.checked(self.values[control.key]) if control.key in self.values else None
        return control.default if found is None else found


def slug(*parts: object) -> str:
    """A key made of several parts: different parts give different keys, whatever is in them."""
    return "-".join(str(part).replace("~", "~0").replace("-", "~1") for part in parts)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a number that a double can hold, however many digits a link or a browser gives it."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _near(value: float, *known: float) -> bool:
    """Whether a number is one to work with: no farther from zero than ``FARTHEST``, or than what is ``known``."""
    return abs(value) <= FARTHEST or any(math.isfinite(one) and abs(value) <= abs(one) for one in known)


def _plain(text: str) -> Any:
    """JSON of a link. Raises Refused."""
    if len(text) > LONGEST_LINKED:
        raise Refused(text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Refused(text) from None
