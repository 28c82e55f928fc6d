"""The parts of a document that programs write, each under a heading of its own."""

from __future__ import annotations

import re
from pathlib import Path


def put(document: Path, part: str) -> None:
    """Put ``part`` in place of the one with the same first line, or behind all others."""
    title = part.strip().splitlines()[0]
    known = [text.strip() for text in re.split(r"^(?=# )", document.read_text(encoding="utf-8"), flags=re.MULTILINE)]
    kept = [text for text in known if text]
    places = [place for place, text in enumerate(kept) if text.splitlines()[0] == title]
    if places:
        kept[places[0]] = part.strip()
    else:
        kept.append(part.strip())
    document.write_text("\n\n".join(kept) + "\n", encoding="utf-8")


def plain(text: str) -> str:
    """Text as it can stand in a cell of a table."""
    return text.replace("|", "\\|").replace("_", "\\_").replace("<", "&lt;")
