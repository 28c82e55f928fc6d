"""What is written down is written once: no document holds a paragraph, or a row of a table, in two versions."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAME = 60
"""Two pieces that begin with as many equal letters are versions of one."""
WRITTEN_BY_PROGRAMS = ("docs/benchmarks*.md", "docs/data.md", "docs/theory.md")
_WRITTEN = {path for names in WRITTEN_BY_PROGRAMS for path in ROOT.glob(names)}
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - _WRITTEN)


def _twice(text: str) -> list[str]:
    """The beginnings of pieces that stand there more than once; what is code may repeat itself."""
    lines = re.sub(r"```.*?```", "", text, flags=re.S).splitlines()
    begun = Counter(line.strip()[:SAME] for line in lines if len(line.strip()) >= SAME)
    return [beginning for beginning, times in begun.items() if times > 1]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_nothing_is_written_in_two_versions(path: Path) -> None:
    assert not _twice(path.read_text(encoding="utf-8"))


def test_two_versions_of_a_paragraph_are_caught() -> None:
    paragraph = (ROOT / "docs" / "integrity.md").read_text(encoding="utf-8").splitlines()[-3]
    assert len(paragraph) > SAME
    assert _twice(f"{paragraph}\n\nSomething else.\n\n{paragraph[:-9]} and more.\n") == [paragraph[:SAME]]
    assert not _twice(f"```sh\n{paragraph}\n{paragraph}\n```\n")
