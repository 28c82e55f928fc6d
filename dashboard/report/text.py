"""The little Markdown that questions write, as runs of plain characters.

What pages say holds emphasis, code, lists and escapes (``words.safe``), and nothing else. Whatever this does not know
stays as the characters it is; no text becomes markup on the way.
"""

from __future__ import annotations

import html
import re

from dashboard.report.value import Line, Listing, Paragraph, Part, Run
from dpcore.datasets.text import UNSEEN, visible

_ESCAPED = set(r"\`*_{}[]()#+-.!|~$:\"'<>&")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|#39);")
_BADGE = re.compile(r"(?<!\\):(?:material|[a-z]+-badge)[^ \n]*?[:\]](?= |$)")
_POINT = re.compile(r"^\s*[-*] +")
_HEADING = re.compile(r"^#{1,6} +")
_LONGEST = 20_000


def line(markdown: str) -> Line:
    """One paragraph of Markdown as runs."""
    found: list[Run] = []
    buffer: list[str] = []
    strong = slanted = False

    def flush(code: bool = False) -> None:
        if buffer:
            text = visible("".join(buffer), _LONGEST)
            found.append(Run(text, strong=strong, slanted=slanted, code=code))
            buffer.clear()

    bare = _BADGE.sub("", _HEADING.sub("", markdown.strip())).replace(UNSEEN, "")
    text = bare.replace("\n", " ").strip()[:_LONGEST]
    place = 0
    while place < len(text):
        sign = text[place]
        if sign == "\\" and place + 1 < len(text) and text[place + 1] in _ESCAPED:
            buffer.append(text[place + 1])
            place += 2
        elif text.startswith("**", place) and (strong or "**" in text[place + 2 :]):
            flush()
            strong = not strong
            place += 2
        elif sign == "*" and (slanted or _closes(text, place)):
            flush()
            slanted = not slanted
            place += 1
        elif sign == "`" and "`" in text[place + 1 :]:
            flush()
            end = text.index("`", place + 1)
            buffer.extend(text[place + 1 : end])
            flush(code=True)
            place = end + 1
        elif sign == "&" and (entity := _ENTITY.match(text, place)) is not None:
            buffer.append(html.unescape(entity.group()))
            place = entity.end()
        else:
            buffer.append(sign)
            place += 1
    flush()
    return tuple(found)


def parts(markdown: str, *, small: bool = False) -> list[Part]:
    """Paragraphs and lists of Markdown."""
    found: list[Part] = []
    for block in re.split(r"\n\s*\n", markdown.strip()):
        points: list[Line] = []
        prose: list[str] = []
        for row in block.splitlines():
            if _POINT.match(row):
                points.append(line(_POINT.sub("", row)))
            elif row.strip():
                prose.append(row)
        if prose:
            found.append(Paragraph(line(" ".join(prose)), "small" if small else "usual"))
        if points:
            found.append(Listing(tuple(points)))
    return found


def words(text: str, *, limit: int = _LONGEST, strong: bool = False) -> Line:
    """Text that is no Markdown, such as a name from a file, as one run."""
    return (Run(visible(text, limit), strong=strong),) if text else ()


def _closes(text: str, place: int) -> bool:
    """Whether a single star begins an emphasis: it touches a letter, and another one ends it."""
    after = text[place + 1 : place + 2]
    return bool(after.strip()) and after != "*" and bool(re.search(r"[^\s\\*]\*(?!\*)", text[place + 1 :]))
