"""What is written down is written once, in pieces that can be read, and leads to where it says.

No document holds a paragraph, or a row of a table, in two versions, no piece of a guide is long, and no link is without
its end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAME = 60
"""Two pieces that begin with as many equal letters are versions of one."""
WRITTEN_BY_PROGRAMS = ("docs/benchmarks*.md", "docs/data.md", "docs/theory.md")
_WRITTEN = {path for names in WRITTEN_BY_PROGRAMS for path in ROOT.glob(names)}
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - _WRITTEN)
GUIDES = [ROOT / "docs" / f"{name}.md" for name in ("operations", "login", "limits", "cluster", "threat-model")]
LONGEST = 400
"""Letters of a bullet, a cell or a paragraph of a guide: four lines of a page. One had 5,655."""


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


def _prose(text: str) -> str:
    return re.sub(r"```.*?```", "\n", text, flags=re.S)


def _pieces(text: str) -> Iterator[str]:
    """Bullets, cells and paragraphs; one that goes on in the next line is one."""
    piece: list[str] = []
    for line in [*_prose(text).splitlines(), ""]:
        begins = re.match(r"\s*([-*+]|\d+\.)\s", line)
        if piece and (begins or line.startswith(("|", "#")) or not line.strip()):
            yield " ".join(piece)
            piece = []
        if line.startswith("|"):
            yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", line))
        elif line.startswith("#"):
            yield line
        elif line.strip():
            piece.append(line.strip())


def _too_long(text: str) -> list[str]:
    return [piece[:SAME] for piece in _pieces(text) if len(piece) > LONGEST]


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_no_piece_of_a_guide_is_long(path: Path) -> None:
    assert not _too_long(path.read_text(encoding="utf-8"))


def test_a_long_piece_is_caught_however_it_is_written() -> None:
    long, half = "word " * (LONGEST // 5 + 1), "half " * (LONGEST // 10 + 1)
    for wrong in (long, f"- {long}", f"1. {long}", f"| short | {long} |", f"- {half}\n  {half}", f"{half}\n{half}"):
        assert len(_too_long(f"# Title\n{wrong}\n\nShort.\n")) == 1
    for right in (f"- {half}\n- {half}", f"{half}\n\n{half}", f"| {half} | {half} |", f"```sh\n{long}\n```"):
        assert not _too_long(f"# Title\n{right}\n")


def _anchors(text: str) -> set[str]:
    """Of headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", _prose(text), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _without_end(path: Path, text: str) -> list[str]:
    """Links of a document that lead to no file, or to no heading of it."""
    wrong = []
    for link in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", _prose(text)):
        name, _, anchor = link.partition("#")
        end = (path.parent / name).resolve() if name else path
        if not end.exists() or (anchor and anchor not in _anchors(end.read_text(encoding="utf-8") if name else text)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_has_its_end(path: Path) -> None:
    assert not _without_end(path, path.read_text(encoding="utf-8"))


def test_a_link_without_an_end_is_caught() -> None:
    text = (
        "# A title: `code`, and more\n[a](#a-title-code-and-more) [b](#b) [c](login.md#roles) [d](login.md#c) [e](e.md)"
    )
    assert _without_end(ROOT / "docs" / "operations.md", text) == ["#b", "login.md#c", "e.md"]


def _said(text: str) -> list[str]:
    """What stands in quotes where the operations page lists what goes wrong."""
    table = text.split("## When something is wrong")[1].split("\n## ")[0]
    return [
        said
        for row in table.splitlines()
        if row.startswith("| ")
        for said in re.findall("“(.+?)”", row.split(" | ")[0])
    ]


def _unsaid(sayings: list[str]) -> list[str]:
    files = [*ROOT.glob("dpcore/**/*.py"), *ROOT.glob("dashboard/**/*.py")]
    source = "".join(re.sub(r'"\s+f?"', "", file.read_text(encoding="utf-8")) for file in files)
    return [said for said in sayings if said not in source]


def test_what_goes_wrong_is_listed_as_the_program_says_it() -> None:
    said = _said((ROOT / "docs" / "operations.md").read_text(encoding="utf-8"))
    assert len(said) >= 12
    assert _unsaid([*said, "The ledger's journal is a fish"]) == ["The ledger's journal is a fish"]


def _not_there(text: str) -> list[str]:
    """Files and folders of the source that a document names and that are not there."""
    named = re.findall(r"`((?:tests|dashboard|dpcore|deploy|docs|supply|benchmarks)/[\w./-]+)`", text)
    return [path for path in named if not (ROOT / path).exists()]


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_every_file_that_a_guide_names_is_there(path: Path) -> None:
    assert not _not_there(path.read_text(encoding="utf-8"))


def test_a_file_that_is_not_there_is_caught() -> None:
    assert _not_there("`tests/serving`, `tests/serving/test_gone.py` and `deploy/backup.sh`") == [
        "tests/serving/test_gone.py"
    ]
