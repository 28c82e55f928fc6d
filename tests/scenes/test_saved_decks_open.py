"""Whatever a deck can hold, and whatever is typed into one, can be saved and opened again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dashboard.scenes import address as addresses
from dashboard.scenes import deck as decks
from dashboard.scenes import editor, tour
from dashboard.scenes.address import Address, NotAnAddress
from dashboard.scenes.deck import Deck, DeckMistakes, Scene, read_deck, unpacked
from dashboard.words import scenes as words

LETTERS = ("a", "é", "€", "😀", '"', "\\", "\n")
"""Letters of one to four bytes, and those that JSON writes by two signs."""
LINKS = ("a", "+", "%", "%FF", "%F0%9F%98%80", "é", "😀", "&", "=", "%26")


def full(letter: str) -> Deck:
    """As much as one can hold, in one letter; that which ends a line is in notes alone."""
    line = "x" if letter == "\n" else letter
    scene = Scene(
        title=line * decks.TITLE,
        sentence=line * decks.SENTENCE,
        notes=letter * decks.NOTES,
        address=Address("selection", (("a", "x" * (addresses.LONGEST - len("selection?a="))),)),
        turn=line * decks.TITLE,
        wants=line * decks.WANTS,
    )
    return Deck(title=line * decks.TITLE, about=line * decks.SENTENCE, scenes=(scene,) * decks.MOST_SCENES)


def opens(deck: Deck) -> bool:
    """Whether it is in its file what it was."""
    try:
        return read_deck(deck.written()) == deck
    except DeckMistakes:
        return False


@pytest.mark.parametrize("letter", LETTERS)
def test_a_deck_that_is_full_is_opened(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deck = full(letter)
    assert opens(deck)
    assert not opens(replace(deck, about=deck.about + "x")), "full it is"
    monkeypatch.setattr(decks, "LARGEST", 300_000)
    assert not opens(deck), "as it was"


def test_a_link_that_holds_a_deck_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """What says the same again and again is short in a link, however long it is."""
    scene = Scene(title="x", sentence="x", notes="x" * decks.NOTES, address=Address("selection"))
    deck = Deck(title="x", scenes=(scene,) * decks.MOST_SCENES)
    packed = deck.packed()
    assert packed is not None
    assert unpacked(packed) == deck
    monkeypatch.setattr(decks, "LARGEST", 300_000)
    with pytest.raises(DeckMistakes):
        unpacked(packed)


def lost(read: Callable[[str], Address]) -> set[str]:
    """The links that are read, and not again as they are written then."""
    found = set()
    for part in LINKS:
        for most in (1, 400, addresses.LONGEST):
            link = "selection?a=" + part * ((most - len("selection?a=")) // len(part) + (most == 1))
            try:
                address = read(link)
            except NotAnAddress:
                continue
            try:
                assert Address.of(address.text) == address
            except NotAnAddress:
                found.add(part)
    return found


def test_an_address_that_is_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter of a link that was typed takes up to twelve signs where it is written."""
    assert lost(Address.of) == set()

    def read(link: str) -> Address:
        with monkeypatch.context() as then:
            then.setattr(addresses, "LONGEST", 12 * addresses.LONGEST)
            return Address.of(link)

    assert {"é", "😀"} <= lost(read)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session in which far more was typed into every field than it holds, and what is told."""
    held: dict[str, Any] = {"making": None}
    slot = type("Slot", (), {"get": lambda _: held["making"], "put": lambda _, made: held.update(making=made)})()
    monkeypatch.setattr(editor, "MAKING", slot)
    monkeypatch.setattr(editor.session, "entered", lambda key, _: "chart" if key == "add-part" else "😀" * 9000)
    monkeypatch.setattr(editor.session, "say", lambda key, told: held.update({key: told}))
    return held


def test_whatever_is_typed_is_opened(typed: dict[str, Any]) -> None:
    for _ in range(decks.MOST_SCENES + 1):
        editor._add(Address("selection", (("data", "own"),)), "x" * 900)
    assert typed[editor._NOTE] == words.too_many(decks.MOST_SCENES + 1, decks.MOST_SCENES)
    editor._title("deck")
    for kept in typed["making"].scenes:
        for name, _, _ in editor._FIELDS:
            editor._caption(kept.mark, name, "any")
    assert opens(tour.made(typed["making"]))


def test_a_view_whose_link_is_too_long_is_not_added(typed: dict[str, Any]) -> None:
    """Part and all; the sentence says what to do."""
    longest = addresses.LONGEST - len("selection?a=")
    editor._add(Address("selection", (("a", "x" * longest),)), "x")
    assert opens(tour.made(typed["making"]))
    before = typed["making"]
    editor._add(Address("selection", (("a", "x" * (longest + 1)),)), "x")
    assert typed["making"] is before
    assert typed[editor._NOTE] == words.VIEW_LONG


def test_no_name_of_a_field_is_guessed_whose_mistake_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of nothing but such fields took a second of the processor, and a longer one would take more."""
    guessed: list[str] = []
    monkeypatch.setattr(decks, "_nearest", lambda key, _: str(guessed.append(key) or ""))
    text = json.dumps({"title": "x", "scenes": [{f"{place}": 0 for place in range(1000)}] * decks.MOST_SCENES})
    with pytest.raises(DeckMistakes) as caught:
        read_deck(text)
    assert len(caught.value.sentences) == decks.MOST_SAID + 1
    assert len(guessed) <= decks.MOST_SAID * decks.MOST_SCENES
