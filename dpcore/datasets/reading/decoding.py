"""From bytes to UTF-8 text: byte-order mark, else strict UTF-8, else a detector's guess for the person to confirm."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from dpcore.datasets.reading.utf8_lines import has_utf8_line
from dpcore.datasets.report import Alternative, Notice, Returns
from dpcore.errors import InvalidArgument, UnreadableFile

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LATIN = ("cp1252", "cp1250", "cp1254", "cp850", "mac_roman")
_OTHER = ("cp1251", "cp1253", "cp1255", "cp1256", "cp932", "gb18030", "big5", "cp949")
_SINGLE = {*_LATIN, "cp1251", "cp1253", "cp1255", "cp1256"}  # one byte, one character
ENCODINGS = ("ascii", *(name for _, name in _MARKS), *_LATIN, *_OTHER)
"""All that a file may be read in: what can be found, and no other codec of Python's. Some of those are no text (zip,
base64), and some take hours for a file (punycode is written in Python and quadratic)."""
_NAMED = {name.replace("_", "-"): name for name in ENCODINGS}
_SAMPLE = 65_536
_AT_END = 160  # a whole number of characters of any width
_SHOWN = 80  # characters
_SIGN = re.compile(rb"[\x80-\xff]")
_RETURN = re.compile(rb"\r")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_OTHER_ENDS = "Some signs that end lines elsewhere stand among the lines; each counts as a blank."


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The file as UTF-8 bytes without a byte-order mark, every line end a single newline.

    ``marked`` is whether such a mark in front, before its first line, told the encoding.
    """

    data: bytes
    encoding: str
    certain: bool
    marked: bool = False
    returns: Returns = "in cells"
    notices: tuple[Notice, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


def decode(data: bytes, encoding: str | None, returns: Returns | None = None) -> Decoded:
    """``encoding`` and ``returns`` override the guess. Raises UnreadableFile, InvalidArgument for an encoding that is
    none of ENCODINGS."""
    return _ended(_found(data, encoding), returns)


def _found(data: bytes, encoding: str | None) -> Decoded:
    if encoding is not None:
        name = known(encoding)
        text = _strictly(data, name)
        return Decoded(data=text.removeprefix("\ufeff").encode(), encoding=name, certain=True)
    for mark, name in _MARKS:
        if data.startswith(mark):
            plain = _strictly(data[len(mark) :], name).encode()
            ways = () if mark == codecs.BOM_UTF8 else _or_utf_8(data, name)
            return Decoded(data=plain, encoding=name, certain=True, marked=True, alternatives=ways)
    if (wide := _unmarked_utf16(data)) is not None:
        plain = _strictly(data, wide).encode()
        return Decoded(data=plain, encoding=wide, certain=True, alternatives=_or_utf_8(data, wide))
    if data.isascii():
        return Decoded(data=data, encoding="ascii", certain=True)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_mixed(data, error.start)
        return _guessed(data)
    return Decoded(data=data, encoding="utf-8", certain=True)


def decode_json(data: bytes, encoding: str | None) -> Decoded:
    """In JSON a return is a blank, and ends a line wherever it stands. Raises as ``decode`` does."""
    found = _found(data, encoding)
    return replace(found, data=found.data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def beginning_by(data: bytes, encoding: str | None) -> str:
    """The encoding that shows which ASCII signs lines begin with, looked for no further than that takes. Raises
    InvalidArgument for an ``encoding`` that is none of ENCODINGS."""
    if encoding is not None:
        return known(encoding)
    return next((name for mark, name in _MARKS if data.startswith(mark)), _unmarked_utf16(data) or "latin-1")


def known(encoding: str) -> str:
    """The name that Python knows it by. Raises InvalidArgument for one that is none of ENCODINGS.

    It is looked up here: Python would import a module for whatever it is told, and remember each for ever.
    """
    name = _NAMED.get(str(encoding).lower().replace("_", "-"))
    if name is None:
        raise InvalidArgument("encoding", "must be an encoding that tables are read in, such as utf-8 or cp1252")
    return name


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFile(
            f"The file is not {encoding} text: line {line} holds bytes that this encoding does not have."
        ) from None
    except ValueError:
        raise UnreadableFile(f"The file cannot be read as {encoding} text.") from None


def _ended(found: Decoded, returns: Returns | None) -> Decoded:
    """With every line end a single newline. A carriage return without a line feed ends lines, or is a blank: by which
    there are more of, which one row can change, so that it is asked wherever there is one."""
    data = found.data
    if (place := data.find(b"\x00")) >= 0:
        line = data.count(b"\n", 0, place) + 1
        raise UnreadableFile(f"Line {line} holds a NUL character, so this is not a text file; export the table again.")
    if b"\r" not in data and returns != "at ends":  # what was stated is done, also where one row alone shows it
        return replace(found, returns=returns or "in cells")
    feeds = data.count(b"\n")
    lone = data.count(b"\r") - data.count(b"\r\n")
    guess: Returns = "at ends" if lone > feeds else "in cells"
    way = returns or guess
    notices, alternatives = found.notices, found.alternatives
    if lone and feeds:
        notices += (Notice(what="noticed", sentence=_OTHER_ENDS, count=min(lone, feeds)),)
    if lone and returns is None:
        ways: tuple[Returns, ...] = ("in cells", "at ends")
        examples = _first_return(data)
        alternatives += tuple(
            Alternative(argument="returns", value=one, example=examples[one], decided=True)
            for one in sorted(ways, key=lambda one: one != guess)
        )
    return replace(found, data=_WITH_FEEDS[way](data), returns=way, notices=notices, alternatives=alternatives)


def _by_feeds(data: bytes) -> bytes:
    """A return alone stands inside a cell: one row is not to become two."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b" ")


def _by_returns(data: bytes) -> bytes:
    """As old files of Macintosh. Each return ends its line, whatever the next one begins with."""
    return data.replace(b"\r\n", b"\r").replace(b"\n", b" ").replace(b"\r", b"\n")


_WITH_FEEDS: dict[Returns, Callable[[bytes], bytes]] = {"in cells": _by_feeds, "at ends": _by_returns}


def _first_return(data: bytes) -> dict[Returns, str]:
    """What stands around the first return without a line feed, read in both ways; line ends as slashes."""
    place = next(found.start() for found in _RETURN.finditer(data) if data[found.end() : found.end() + 1] != b"\n")
    around = data[max(0, place - 30) : place + 30].decode("utf-8", "ignore").encode()
    return {way: " / ".join(feeds(around).decode("utf-8", "ignore").split("\n")) for way, feeds in _WITH_FEEDS.items()}


def _unmarked_utf16(data: bytes) -> str | None:
    """UTF-16 without a mark: nearly every second byte is zero."""
    start = data[:2000]
    if len(start) < 8 or b"\x00" not in start:
        return None
    half = len(start) // 2
    if start[1::2].count(0) > 0.7 * half and start[0::2].count(0) < 0.1 * half:
        return "utf-16-le"
    if start[0::2].count(0) > 0.7 * half and start[1::2].count(0) < 0.1 * half:
        return "utf-16-be"
    return None


def _or_utf_8(data: bytes, wide: str) -> tuple[Alternative, ...]:
    """UTF-16 or UTF-32 by a mark or by zeros: one first row that has them makes it so for all others. Shown at the end
    of the file, where that row is far away."""
    end = data[-_AT_END:]
    return tuple(
        Alternative(
            argument="encoding",
            value=name,
            example=_last_lines(end.decode(name, "replace").replace("\0", "\ufffd"), whole=len(end) == len(data)),
            decided=True,
        )
        for name in (wide, "utf-8")
    )


def _last_lines(text: str, *, whole: bool) -> str:
    """As many last lines as can be shown, each from its beginning unless it alone is too long; the first one of a piece
    of a text is not ``whole``."""
    first, *others = text.splitlines() or [""]
    shown: list[str] = []
    for line in reversed(others if others and not whole else [first, *others]):
        if shown and len(line) + sum(len(one) + 3 for one in shown) > _SHOWN:
            break
        shown.insert(0, line)
    return " / ".join(shown)[-_SHOWN:]


def _refuse_mixed(data: bytes, place: int) -> None:
    """Some lines are UTF-8 and some, first that of ``place``, are not: no single encoding gives every name right."""
    if not has_utf8_line(data):
        return
    first = sum(data.count(end, 0, place) for end in (b"\n", b"\r")) - data.count(b"\r\n", 0, place) + 1
    raise UnreadableFile(
        f"The file mixes UTF-8 with another encoding, first on line {first}; save it again as UTF-8, "
        "or choose the encoding yourself."
    )


def _guessed(data: bytes) -> Decoded:
    """By how the lines beyond ASCII look, all together: one more could have made it another one for all of them."""
    sample = _telling(data)
    signs = bytes(sorted(set(data.translate(None, bytes(range(128))))))
    fitting = [name for name in _ranked(sample) if _decodes(signs if name in _SINGLE else data, name)]
    if not fitting:
        raise UnreadableFile("The text encoding of this file is not known; save it as UTF-8.")
    best = fitting[0]
    same = [best]
    if best in _SINGLE:
        same += [n for n in fitting[1:] if n in _SINGLE and signs.decode(n) == signs.decode(best)]
    plausible = [name for name in fitting[:3] if name not in same]
    others = plausible or [name for name in fitting if name not in same][:1]
    alternatives = tuple(
        Alternative(argument="encoding", value=name, example=example, decided=not plausible)
        for name, example in zip([best, *others], _side_by_side(sample, [best, *others]), strict=True)
    )
    text = data.decode(best).encode()
    return Decoded(data=text, encoding=best, certain=not plausible, alternatives=alternatives)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _side_by_side(sample: bytes, encodings: list[str]) -> list[str]:
    """The first line that the first two encodings read differently, as each of them reads it."""
    for line in sample.split(b"\n"):
        examples = [line.decode(name, "replace")[:80] for name in encodings]
        if len(examples) > 1 and examples[0] != examples[1]:
            return examples
    return ["" for _ in encodings]


def _telling(data: bytes) -> bytes:
    """The lines that are not ASCII, up to 64 KB of them."""
    lines, size = [], 0
    for _, line in _beyond_ascii(data):
        lines.append(line[:4096])
        size += len(lines[-1])
        if size > _SAMPLE:
            break
    return b"\n".join(lines)


def _beyond_ascii(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not ASCII, with their numbers from 1; the file is never held a second time."""
    number, counted, start = 1, 0, 0
    while found := _SIGN.search(data, start):
        ends = [data.rfind(end, counted, found.start()) + 1 for end in (b"\n", b"\r")]
        first = max(counted, *ends)
        number += sum(data.count(end, counted, first) for end in (b"\n", b"\r")) - data.count(b"\r\n", counted, first)
        last = _LINE_END.search(data, found.end())
        start = counted = len(data) if last is None else last.end()
        yield number, data[first : len(data) if last is None else last.start()]
        number += 1


def _ranked(sample: bytes) -> list[str]:
    """Encodings from the most to the least plausible."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=[*_LATIN[:2], *_OTHER]))
    found = [match.encoding for match in matches]
    coherence = {match.encoding: match.coherence for match in matches}
    latin = sorted(_LATIN, key=lambda name: (_oddities(sample, name), _LATIN.index(name)))
    if coherence.get("cp1250", 0.0) > coherence.get("cp1252", 1.0) + 0.03:
        latin.sort(key=lambda name: name != "cp1250")
    others = [name for name in found if name in _OTHER]
    if found and found[0] in _OTHER and not set(found) & set(_LATIN) and _in_runs(sample):
        return [*others, *latin]
    return [*latin, *others]


def _in_runs(sample: bytes) -> bool:
    """Whether letters beyond ASCII mostly stand together, as in scripts other than Latin."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    return 2 * sum(len(run) for run in runs if len(run) > 1) > sum(len(run) for run in runs)


def _oddities(sample: bytes, encoding: str) -> int:
    """Signs inside words, or capitals after small letters: what text looks like in a wrong encoding."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return 1 << 30
    odd = 0
    for before, here in pairwise(text):
        if here < "\x80" and before < "\x80":
            continue
        kinds = unicodedata.category(before), unicodedata.category(here)
        letters = tuple(kind[0] == "L" for kind in kinds)
        if letters == (True, True):
            odd += kinds == ("Ll", "Lu")
        elif any(letters):
            sign = before if letters[1] else here
            odd += sign >= "\x80" and unicodedata.category(sign)[0] in "SNC"
    return odd
