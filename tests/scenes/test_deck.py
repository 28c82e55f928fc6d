"""Decks as files: what is read is what was written, every mistake has its sentence, and the bundled ones have none."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.controls import LONGEST_LINKED
from dashboard.scenes import deck as decks
from dashboard.scenes.address import Address, NotAnAddress
from dashboard.scenes.deck import MOST_SAID, Deck, DeckMistakes, Scene, bundled, mistakes, read_deck, unpacked
from tests.questions.samples import sample_case

SCENE = {"title": "One", "sentence": "Look.", "address": "selection?epsilon=0.1"}


def deck_of(*scenes: dict[str, Any], **more: Any) -> str:
    return json.dumps({"title": "Mine", "scenes": list(scenes) or [SCENE], **more})


@pytest.mark.parametrize("name", bundled())
def test_a_bundled_deck_has_no_mistake_and_survives_its_file(name: str) -> None:
    """Every scene's page has every setting and takes its value, and has the control that is to be tried."""
    deck = bundled()[name]
    assert mistakes(deck, sample_case) == ()
    assert read_deck(deck.written()).scenes == deck.scenes
    for scene in deck.scenes:
        assert scene.notes
        assert Address.of(scene.address.text) == scene.address


def test_there_is_a_deck_for_newcomers_one_for_every_page_and_one_in_the_textbooks_order() -> None:
    from dashboard import catalogue

    assert {"five_minutes", "textbook_order", *(page.key for page in catalogue.pages())} <= set(bundled())
    covered = {scene.address.page for scene in bundled()["textbook_order"].scenes}
    assert covered == {page.key for page in catalogue.pages()}


def test_a_bundled_deck_that_a_change_of_the_product_breaks_is_found_out() -> None:
    """The test above can fail: a renamed control, a withdrawn option and a control that left its page are told."""
    scene = bundled()["five_minutes"].scenes[0]
    broken = [
        replace(scene, address=scene.address.with_settings(epsilom="1")),
        replace(scene, address=scene.address.with_settings(selection_method="gone")),
        replace(scene, turn="line"),
        replace(scene, address=Address("selection", (("data", "stocks"),))),
    ]
    told = mistakes(Deck(title="Broken", scenes=tuple(broken)), sample_case)
    assert len(told) == len(broken)
    assert "did you mean “epsilon”?" in told[0]
    assert "selection_method" in told[1]
    assert "not here" in told[3] or "cannot be asked" in told[3]


@pytest.mark.parametrize(
    ("within", "looked", "said"), [(5.0, 6, "Scenes 7 to 100"), (99.0, 100, ""), (math.inf, 100, "")]
)
def test_a_deck_that_takes_long_to_check_is_checked_in_part(
    within: float, looked: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of 15 KB once took a server's processor for 21 seconds. Here each scene takes one."""
    asked: list[Scene] = []
    monkeypatch.setattr(decks, "_missing", lambda scene, _: asked.append(scene) or [])
    monkeypatch.setattr(decks.time, "thread_time", lambda: float(len(asked)))
    scene = bundled()["five_minutes"].scenes[0]
    told = mistakes(Deck(title="Long", scenes=(scene,) * 100), sample_case, seconds=within)
    assert len(asked) == looked
    assert "".join(told).startswith(said)
    assert len(told) == bool(said)


def test_the_page_checks_a_deck_for_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    from dashboard.scenes import editor

    class File:
        size = 100

        def getvalue(self) -> bytes:
            return deck_of().encode()

    given: list[float] = []
    monkeypatch.setattr(editor, "UploadedFile", File)
    monkeypatch.setattr(editor.session, "entered", lambda *_: File())
    for slot in ("DECK_ROUND", "DECK_MISTAKES", "EMPTIED", "MAKING"):
        monkeypatch.setattr(editor, slot, SimpleNamespace(get=lambda: 0, put=lambda _: None))
    monkeypatch.setattr(editor.decks, "mistakes", lambda *_, seconds: given.append(seconds))
    editor._open("a key")
    assert given == [editor.CHECKING]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["not JSON: line 1"]),
        ("[]", ["not a deck"]),
        ('{"title": "x"}', ["not a deck"]),
        ("[" * 100_000, ["not a deck"]),
        (" " * (decks.LARGEST + 1), ["too large"]),
        ('{"title": "x", "scenes": []}', ["no scenes"]),
        (deck_of(*[SCENE] * 101), ["101 scenes"]),
        (deck_of(rank="first"), ["“rank”"]),
        (deck_of(titel="x"), ["“titel”", "did you mean “title”?"]),
        (deck_of({**SCENE, "sentense": "x"}), ["Scene 1, “One”,", "did you mean “sentence”?"]),
        (deck_of("selection"), ["Scene 1 is not an object"]),
        (deck_of({"title": "One"}), ["no “sentence”", "no “address”"]),
        (deck_of({**SCENE, "sentence": " "}), ["“sentence” that is empty"]),
        (deck_of({**SCENE, "title": 7}), ["“title” that is empty or not a text"]),
        (deck_of({**SCENE, "sentence": "x" * 241}), ["241 characters: at most 240"]),
        (deck_of({**SCENE, "address": "elsewhere?epsilon=1"}), ["a page “elsewhere” that is not here"]),
        (deck_of({**SCENE, "address": "selection?epsilon"}), ["not a link"]),
        (deck_of({**SCENE, "address": "selection?a=" + "x" * 4000}), ["too long"]),
        (deck_of(SCENE, {**SCENE, "address": "a b"}, {**SCENE, "titel": 1}), ["Scene 2", "Scene 3"]),
    ],
)
def test_every_mistake_of_a_file_has_one_sentence(text: str, told: list[str]) -> None:
    with pytest.raises(DeckMistakes) as caught:
        read_deck(text)
    sentences = caught.value.sentences
    for part in told:
        assert any(part in sentence for sentence in sentences), sentences
    assert all(sentence.endswith((".", "?")) and "\n" not in sentence for sentence in sentences)
    assert len(sentences) == len({*sentences}) <= max(2, len(told))


def test_a_file_full_of_mistakes_is_told_its_first_ones() -> None:
    with pytest.raises(DeckMistakes) as caught:
        read_deck(deck_of(*[{}] * 100))
    assert len(caught.value.sentences) == MOST_SAID + 1
    assert caught.value.sentences[-1] == "It has 288 more mistakes."


def test_a_deck_travels_in_a_link_while_it_is_small() -> None:
    scenes = tuple(
        Scene(title=f"Scene {place}", sentence="Größer: “ε” 😀.", address=Address.of(f"selection?epsilon=0.{place}"))
        for place in range(1, 7)
    )
    deck = Deck(title="Mine", about="All of it.", scenes=scenes)
    packed = deck.packed()
    assert packed is not None
    assert unpacked(packed) == deck
    assert bundled()["textbook_order"].packed() is None  # too long, as the page says
    for cut in (packed[:-9], packed[:40], "~", "~!!", "~AAAA"):
        with pytest.raises(DeckMistakes, match="cut or changed"):
            unpacked(cut)


def test_a_link_that_grows_without_bound_is_not_opened() -> None:
    import base64
    import zlib

    bomb = "~" + base64.urlsafe_b64encode(zlib.compress(b"[" * 50_000_000, 9)).decode()
    with pytest.raises(DeckMistakes):
        unpacked(bomb[: LONGEST_LINKED * 40])


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("selection?epsilon=1", Address("selection", (("epsilon", "1"),))),
        ("https://example.org/lab/selection?epsilon=1&embed=true", Address("selection", (("epsilon", "1"),))),
        ("http://127.0.0.1:8501/?epsilon=2&tour=five_minutes&scene=3", Address("start", (("epsilon", "2"),))),
        ("/experts/", Address("experts")),
        ("?", Address("start")),
        ("selection?line=a%26b%3Dc", Address("selection", (("line", "a&b=c"),))),
    ],
)
def test_an_address_is_a_link_as_it_is_copied(text: str, address: Address) -> None:
    assert Address.of(text) == address
    assert Address.of(address.text) == address


@pytest.mark.parametrize("text", ["javascript:alert(1)", "nowhere", "selection?&&=", "http://[", "x" * 5000])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(NotAnAddress, match=r"^has "):
        Address.of(text)
