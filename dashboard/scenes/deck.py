"""Decks: lists of scenes in plain files, read, checked and written without a page.

A deck is a JSON file: ``title``, ``about`` and ``scenes``; each scene has a ``title``, a ``sentence`` to read, an
``address`` (a link as it is copied), and may have ``notes`` for the speaker, ``try`` (the key of the control that its
sentence is about) and ``wants`` (which file of the speaker's own it was made with). Nothing else is in it: no data, no
answer, no name of a column of anybody's file.
"""

from __future__ import annotations

import base64
import binascii
import difflib
import json
import math
import time
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dashboard.controls import LONGEST_LINKED
from dashboard.scenes.address import Address, CaseOf, NotAnAddress, opened
from dashboard.words import scenes as words
from dpcore.errors import DpcoreError

FOLDER = Path(__file__).parent / "decks"
MOST_SCENES = 100
LARGEST = 2_000_000
"""Bytes of a deck file: more than one takes whose every scene is full, in letters of four bytes."""
TITLE, SENTENCE, NOTES, WANTS = 80, 240, 3000, 120
"""Most characters of a title, of the sentence to read, of the notes, and of what is said about a file."""
PACKED = "~"
"""What a deck that travels within a link begins with."""
_DECK = {"title": TITLE, "about": SENTENCE, "rank": 0, "scenes": 0}
_SCENE = {"title": TITLE, "sentence": SENTENCE, "notes": NOTES, "address": 0, "try": TITLE, "wants": WANTS}
_NEEDED = ("title", "sentence", "address")
_JOINED = "\u200c\u200d"  # within words of some scripts, and within emoji
MOST_SAID = 12


class DeckMistakes(DpcoreError):
    """A file that is no deck. ``sentences`` has one for each of its first mistakes, and how many more there are."""

    def __init__(self, sentences: Sequence[str]) -> None:
        left = len(sentences) - MOST_SAID
        shown = [*sentences[:MOST_SAID], *([words.more_mistakes(left)] if left > 0 else [])]
        super().__init__(" ".join(shown))
        self.sentences = tuple(shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One view with what is said about it. ``turn`` is the key of the control its sentence is about, or empty."""

    title: str
    sentence: str
    address: Address
    notes: str = ""
    turn: str = ""
    wants: str = ""

    def said(self, name: str, text: str) -> Scene:
        """With another ``title``, ``sentence``, ``notes`` or text of ``wants``."""
        words_: dict[str, Any] = {name: text}
        return replace(self, **words_)

    def plain(self) -> dict[str, str]:
        """As a deck file has it."""
        every = {
            "title": self.title,
            "sentence": self.sentence,
            "notes": self.notes,
            "address": self.address.text,
            "try": self.turn,
            "wants": self.wants,
        }
        return {key: value for key, value in every.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deck:
    """Scenes in their order. ``rank`` orders the bundled ones."""

    title: str
    about: str = ""
    scenes: tuple[Scene, ...]
    rank: int = 1000

    def written(self) -> str:
        """As a file, to be opened again by ``read_deck``."""
        return json.dumps(self._plain(), ensure_ascii=False, indent=1) + "\n"

    def packed(self) -> str | None:
        """As part of a link; None where it is too long for one."""
        plain = json.dumps(self._plain(), ensure_ascii=False, separators=(",", ":")).encode()
        text = PACKED + base64.urlsafe_b64encode(zlib.compress(plain, 9)).decode().rstrip("=")
        return text if len(text) <= LONGEST_LINKED else None

    def _plain(self) -> dict[str, Any]:
        return {"title": self.title, "about": self.about, "scenes": [scene.plain() for scene in self.scenes]}


def legible(text: str, name: str) -> str:
    """The text of a deck's field ``name`` without signs that nobody sees or that end lines elsewhere than in notes.

    Where a deck is written as Python or in a document, a text of it is one line of what is seen.
    """
    return "".join(sign if _is_legible(sign, name) else " " for sign in text)


def _is_legible(sign: str, name: str) -> bool:
    if sign.isprintable() or sign in _JOINED or (sign in "\n\t" and name == "notes"):
        return True
    return unicodedata.category(sign) == "Zs"  # blanks of any width


def read_deck(text: str) -> Deck:
    """The deck in a file's text. Raises DeckMistakes with one sentence for each mistake, wherever they are."""
    if len(text.encode(errors="replace")) > LARGEST:
        raise DeckMistakes([words.TOO_LARGE])
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise DeckMistakes([words.not_json(error.lineno, error.colno)]) from None
    except (ValueError, RecursionError):
        raise DeckMistakes([words.NOT_A_DECK]) from None
    if not isinstance(found, dict) or not isinstance(found.get("scenes"), list):
        raise DeckMistakes([words.NOT_A_DECK])
    wrong = _fields(found, _DECK, ("title",), words.THE_DECK)
    parts = found["scenes"]
    if not parts:
        wrong.append(words.NO_SCENES)
    if len(parts) > MOST_SCENES:
        wrong.append(words.too_many(len(parts), MOST_SCENES))
    scenes = [_scene(part, number, wrong) for number, part in enumerate(parts[:MOST_SCENES], 1)]
    rank = found.get("rank", 1000)
    if isinstance(rank, bool) or not isinstance(rank, int):
        wrong.append(words.RANK)
    if wrong:
        raise DeckMistakes(wrong)
    return Deck(
        title=found["title"],
        about=found.get("about", ""),
        scenes=tuple(scene for scene in scenes if scene is not None),
        rank=rank,
    )


def unpacked(text: str) -> Deck:
    """The deck that travels in a link, as ``Deck.packed`` wrote it. Raises DeckMistakes."""
    body = text.removeprefix(PACKED)
    try:
        packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        opener = zlib.decompressobj()
        plain = opener.decompress(packed, LARGEST)
        if opener.unconsumed_tail or not opener.eof:
            raise DeckMistakes([words.CUT_LINK])
        return read_deck(plain.decode())
    except (binascii.Error, zlib.error, ValueError):
        raise DeckMistakes([words.CUT_LINK]) from None


@cache
def bundled() -> Mapping[str, Deck]:
    """The decks that come with the product, by the name of their file, in order. Raises DeckMistakes."""
    found = {file.stem: read_deck(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")}
    return MappingProxyType(dict(sorted(found.items(), key=lambda pair: (pair[1].rank, pair[0]))))


def mistakes(deck: Deck, case_of: CaseOf, *, seconds: float = math.inf) -> tuple[str, ...]:
    """What this product no longer has of a deck that was read: one sentence for each, none where all opens.

    After so many ``seconds`` of this thread's processor the scenes that are left are not looked at, with a sentence.
    """
    told: list[str] = []
    end = time.thread_time() + seconds
    for number, scene in enumerate(deck.scenes, 1):
        if time.thread_time() > end:
            return (*told, words.not_checked(number, len(deck.scenes)))
        told += [f"{words.the_scene(number, scene.title)} {part}" for part in _missing(scene, case_of)]
    return tuple(told)


def _missing(scene: Scene, case_of: CaseOf) -> list[str]:
    found = opened(scene.address, case_of)
    wrong = [words.refused(key, found.controls[key].label) for key in found.refused]
    if found.problem:
        wrong.append(words.cannot_ask(found.problem))
    if not scene.address.own:  # what was set about a file of one's own is known once it is there
        wrong += [words.unknown(key, _nearest(key, found.controls)) for key in found.unknown]
        if scene.turn and scene.turn not in found.controls and not found.problem:
            wrong.append(words.no_turn(scene.turn, _nearest(scene.turn, found.controls)))
    elif not scene.wants:
        wrong.append(words.WANTS_NOTHING)
    return wrong


def _scene(part: Any, number: int, wrong: list[str]) -> Scene | None:
    """One scene, its mistakes added to ``wrong``; None where it has some."""
    if not isinstance(part, dict):
        wrong.append(f"{words.the_scene(number)} {words.NOT_A_SCENE}")
        return None
    title = part.get("title")
    where = words.the_scene(number, title if isinstance(title, str) else "")
    mine = _fields(part, _SCENE, _NEEDED, where)
    address = None
    if isinstance(part.get("address"), str):
        try:
            address = Address.of(part["address"])
        except NotAnAddress as error:
            mine.append(f"{where} {error}")
    wrong += mine
    if mine or address is None:
        return None
    return Scene(
        title=part["title"],
        sentence=part["sentence"],
        address=address,
        notes=part.get("notes", ""),
        turn=part.get("try", ""),
        wants=part.get("wants", ""),
    )


def _fields(part: Mapping[str, Any], known: Mapping[str, int], needed: Sequence[str], where: str) -> list[str]:
    """What is wrong with the fields of a deck or scene; ``known`` gives each its most characters, 0 for no limit."""
    wrong = [f"{where} {words.no_field(key)}" for key in needed if key not in part]
    for key, value in part.items():
        if key not in known:
            near = _nearest(key, known) if len(wrong) < MOST_SAID else ""  # no more are told
            wrong.append(f"{where} {words.unknown_field(key, near)}")
        elif key in ("scenes", "rank"):
            continue
        elif not isinstance(value, str) or (key in needed and not value.strip()):
            wrong.append(f"{where} {words.not_text(key)}")
        elif known[key] and len(value) > known[key]:
            wrong.append(f"{where} {words.too_long(key, len(value), known[key])}")
        elif legible(value, key) != value:
            wrong.append(f"{where} {words.not_legible(key)}")
    return wrong


def _nearest(key: str, known: Mapping[str, Any]) -> str:
    return next(iter(difflib.get_close_matches(key, known, n=1)), "")
