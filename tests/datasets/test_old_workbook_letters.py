"""The shared words of an old workbook stand in parts; where one ends hangs on all words before, and cuts no letter."""

from __future__ import annotations

import struct

import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import compound, old_sheets
from tests.datasets.test_old_workbook_bombs import record, shared, stream

PART = 8000
FACE, MARK = "\U0001f600", "\ufeff"


def wide(*words: str) -> bytes:
    """Shared words of two bytes a letter, in a record and those it goes on in, each begun by how its letters are."""
    parts, room = [b""], PART
    for word in words:
        letters = word.encode("utf-16-le")
        head = struct.pack("<HB", len(letters) // 2, 1)
        if room < len(head):
            parts.append(b"")
            room = PART
        parts[-1], room = parts[-1] + head, room - len(head)
        while letters:
            taken = min(room - room % 2, len(letters))
            parts[-1], room, letters = parts[-1] + letters[:taken], room - taken, letters[taken:]
            if letters:
                parts.append(b"\1")
                room = PART - 1
    first, *rest = parts
    return record(0xFC, struct.pack("<ii", len(words), len(words)) + first) + b"".join(
        record(0x3C, one) for one in rest
    )


def read(before: int, word: str) -> list[str]:
    """The words of a sheet, of which one is so long and another stands behind it."""
    words = ("word", "a" * before, word, "end")
    cells = b"".join(shared(place, place) for place in range(len(words)))
    made = compound.container_of(stream(cells, among=wide(*words)))
    return list(read_table(made, header_rows=1, header_line=1, keep_footer=True).frame.iloc[:, 0])


def read_so_far(word: str) -> tuple[set[str], int]:
    """What becomes of a word where the one before grows by a letter at a time, and how often it is refused."""
    found, refused = set(), 0
    for before in range(PART // 2 - 40, PART // 2):
        try:
            found.add(read(before, word)[1])
        except UnreadableFile as error:
            refused += "cuts a word in the midst of a letter; save it" in str(error)
    return found, refused


@pytest.mark.parametrize("word", [FACE * 6, f"a{FACE}" * 5, f"{MARK}b" * 6, f"\ufffeb{MARK}" * 4])
def test_a_word_is_what_it_is_wherever_a_part_ends(word: str) -> None:
    found, refused = read_so_far(word)
    assert len(found) == 1
    assert 0 < refused < 40


def test_a_letter_that_is_cut_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_sheets, "_FIRST_HALF", -1)
    assert len(read_so_far(FACE * 6)[0]) > 1
    monkeypatch.undo()
    monkeypatch.setattr(old_sheets, "_MARKS", ())
    assert len(read_so_far(f"{MARK}b" * 6)[0]) > 1


def test_words_of_plain_letters_are_refused_nowhere() -> None:
    assert read_so_far("größe") == ({"größe"}, 0)
