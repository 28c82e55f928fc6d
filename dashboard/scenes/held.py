"""What a session holds for decks: the one being shown, the one being made, and how the page in view is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dashboard.scenes.deck import Deck, Scene
from dashboard.session import Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """A deck that is being shown. ``number`` counts its scenes from 1; ``reference`` is how a link names the deck."""

    deck: Deck
    reference: str
    number: int
    present: bool

    @property
    def scene(self) -> Scene:
        return self.deck.scenes[self.number - 1]

    @property
    def following(self) -> Scene | None:
        """The scene after this one, None at the end."""
        return self.deck.scenes[self.number] if self.number < len(self.deck.scenes) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How a question is drawn where it stands alone: large in a room, or as one chart within another page.

    ``part`` is what is shown of it, ``turn`` the key of the control that is offered beside it.
    """

    kind: Literal["present", "embed"]
    part: str = "chart"
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A scene of the deck that is being made; ``mark`` tells it from the others wherever it stands."""

    mark: int
    scene: Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """The deck that a person is making."""

    title: str
    about: str = ""
    scenes: tuple[Kept, ...] = ()
    next_mark: int = 1


SHOWING: Slot[Showing | None] = Slot("_showing", lambda: None)
GO: Slot[int] = Slot("_scene_asked", lambda: 0)
"""The scene to go to before anything else is drawn; 0 for none."""
STAGE: Slot[Stage | None] = Slot("_stage", lambda: None)
PICTURE_HEIGHT: Slot[int | None] = Slot("_picture_height", lambda: None)
"""Pixels of every picture where it is shown to a room, None where pictures are as they are."""
FOCUS: Slot[tuple[str, int]] = Slot("_scene_focus", lambda: ("", 0))
"""The key of the control to focus, and how often one was asked for."""
MAKING: Slot[Making | None] = Slot("_deck_making", lambda: None)
EMPTIED: Slot[Making | None] = Slot("_deck_emptied", lambda: None)
"""The deck that was emptied or replaced last, for bringing it back."""
DECK_ROUND: Slot[int] = Slot("_deck_round", lambda: 0)
DECK_MISTAKES: Slot[tuple[str, ...]] = Slot("_deck_mistakes", tuple)
DRAW_ID: Slot[str] = Slot("_scene_draw", lambda: "")
"""The id of the next private answer that is drawn on the stage: a second click repeats the first."""
UNUSED: Slot[dict[tuple[str, tuple[str, ...]], tuple[str, ...]]] = Slot("_unused", dict)
"""By page and the settings of a link that nothing asked for: those that no control of the page takes."""
