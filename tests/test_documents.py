"""What is written down is written once: no document holds a paragraph, or a row of a table, in two versions."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAME = 60
"""Two pieces that begin with as many equal letters are versions of one."""
WRITTEN_BY_PROGRAMS = ("docs/benchmarks*.md", "docs/data.md", "docs/theory.md")
DOCUMENTS = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {one for names in WRITTEN_BY_PROGRAMS for one in ROOT.glob(names)}
)


def _twice(text: str) -> list[str]:
    """The beginnings of pieces that stand there more than once; what is code may repeat itself."""
    lines = re.sub(r"```.*?```", "", text, flags=re.S).splitlines()
    pieces = sorted(line.strip() for line in lines if len(line) >= SAME)
    pairs = zip(pieces, pieces[1:], strict=False)
    return [one[:SAME] for one, other in pairs if len(os.path.commonprefix((one, other))) >= SAME]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_nothing_is_written_in_two_versions(path: Path) -> None:
    assert not _twice(path.read_text(encoding="utf-8"))


def test_two_versions_of_a_paragraph_are_caught() -> None:
    paragraph = (ROOT / "docs" / "integrity.md").read_text(encoding="utf-8").splitlines()[-3]
    assert len(paragraph) > SAME
    assert _twice(f"{paragraph}\n\nSomething else.\n\n{paragraph[:-9]} and more.\n") == [paragraph[:SAME]]
    assert not _twice(f"```sh\n{paragraph}\n{paragraph}\n```\n")
