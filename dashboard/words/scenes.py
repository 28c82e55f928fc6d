"""What scenes, decks, the tour, the presenter's stage and the sharing of a view say."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from dashboard.words import safe, visible
from dpcore.datasets.text import UNSEEN

PART = "What is spoken of"
PARTS: Mapping[str, str] = {
    "chart": "the chart",
    "outcomes": "what you might see",
    "need": "what is needed",
    "protected": "who is protected",
    "tab": "what is open below the chart",
    "release": "a private answer",
}
DATA = "Data"
KEPT = "Kept scenarios"

# -- mistakes of deck files --------------------------------------------------------------------------------------------

THE_DECK = "The deck"
TOO_LARGE = "The file is too large for a deck: at most 2 MB."
NOT_A_DECK = "The file is not a deck: it must be a JSON object with a “title” and a list of “scenes”."
NO_SCENES = "The deck has no scenes: give it at least one."
NOT_A_SCENE = "is not an object with a “title”, a “sentence” and an “address”."
RANK = "The deck has a “rank” that is not a whole number."
CUT_LINK = "The deck in this link cannot be read: the link was cut or changed; ask for it again."
TOO_LONG = "has an address that is too long: at most 4,000 characters."
NOT_AN_ADDRESS = "has an address that is not a link: copy one by “Share”, such as “selection?epsilon=1”."
WANTS_NOTHING = "was made with a file of one's own and does not say which: say it under “wants”."


def the_scene(number: int, title: str = "") -> str:
    return f"Scene {number}" + (f", “{visible(title, 60)}”," if title.strip() else "")


def not_json(line: int, column: int) -> str:
    return f"The file is not JSON: line {line}, place {column} cannot be read."


def too_many(count: int, most: int) -> str:
    return f"The deck has {count} scenes: at most {most} are shown."


def more_mistakes(count: int) -> str:
    return f"It has {count:,} more mistakes."


def not_checked(first: int, last: int) -> str:
    which = f"Scene {first} was" if first == last else f"Scenes {first} to {last} were"
    return f"{which} not checked, since what the deck asks takes long; open each before you show it."


def no_field(key: str) -> str:
    return f"has no “{key}”."


def not_text(key: str) -> str:
    return f"has a “{key}” that is empty or not a text."


def not_legible(key: str) -> str:
    lines = "" if key == "notes" else ", or several lines"
    return f"has a “{key}” with signs that nobody sees{lines}: write it anew."


def too_long(key: str, length: int, most: int) -> str:
    return f"has a “{key}” of {length} characters: at most {most} fit."


def unknown_field(key: str, nearest: str) -> str:
    return f"has a field “{visible(key, 40)}” that decks do not have{_did_you_mean(nearest)}"


def no_page(page: str, known: Sequence[str]) -> str:
    return f"has the address of a page “{visible(page, 40)}” that is not here: there are {', '.join(known)}."


def refused(key: str, label: str) -> str:
    return f"sets “{visible(key, 60)}” to what is not offered there ({label}); the usual setting is shown instead."


def unknown(key: str, nearest: str) -> str:
    return f"sets “{visible(key, 60)}”, which its page does not have{_did_you_mean(nearest)}"


def no_turn(key: str, nearest: str) -> str:
    return f"wants people to try “{visible(key, 60)}”, which its page does not have{_did_you_mean(nearest)}"


def cannot_ask(problem: str) -> str:
    return f"cannot be asked about its data: {problem}"


def _did_you_mean(nearest: str) -> str:
    return f": did you mean “{nearest}”?" if nearest else "."


# -- the tour and the stage --------------------------------------------------------------------------------------------

FIVE_MINUTES = "Privacy in five minutes: a tour"
SHOW_OTHERS = "Show it to others"
SCENE = "Scene"
BACK, NEXT, AGAIN, END = "Back", "Next", "From the start", "End the tour"
TRY = "Try it yourself"
LEFT = "You have left the tour; it waits for you."
RETURN = "Back to the tour"
LOOK = "The tour speaks of this"
PRESENT = "Present"
TOUR = "Take the tour"
STOP = "Stop presenting"
NOTES = "Speaker notes"
NO_DECK = "The link names a deck that is not here: open its file again under Live demos."
WAITING = "Waiting for the stage: start presenting in another window of this browser."
BLANK, BLANKED = "Blank the screen", "The screen is black."
CLOCK = "Time since this window was opened"
AFTER = "Next scene"
LAST = "none: this is the last one"
KEYS = (
    "Next: → or Page Down. Back: ← or Page Up. Blank the screen: B. A clicker works too. "
    "Speaker notes open in a second window and follow the stage."
)


TYPED = ", typed"  # said of the entry beside the slider


def place(number: int, count: int) -> str:
    return f"{number} of {count}"


def of_deck(title: str, number: int, count: int) -> str:
    return f"**{safe(title, 90)}** · {number} of {count}"


def turn(label: str) -> str:
    """Names the control to try."""
    return f"{TRY}: {safe(label[:1].lower() + label[1:].removesuffix(TYPED), 60)}"


def wants(file: str) -> str:
    return (
        f"This scene was made with a file of the speaker's own ({safe(file, 130)}). A sample is shown until you bring "
        "the file on the Data page."
    )


# -- one more private answer -------------------------------------------------------------------------------------------

DRAW = "Draw another private answer"
RESET = "Reset practice"
EMPTY_BUDGET = "Not enough is left for another one."
NONE_YET = "No private answer has been drawn yet."
NOT_PRACTICE = "Private answers are drawn on the stage for samples only: this is a file of your own."


def unmarked(markdown: str) -> str:
    """A described answer without its Markdown, for a picture: "**Back pain\\.**" gives "Back pain."."""
    bare = re.sub(r"\\([^A-Za-z0-9\s])|[*_`]", r"\1", markdown)
    return html.unescape(bare.replace(UNSEEN, ""))


def drawn(count: int) -> str:
    return f"{count} private answer{'' if count == 1 else 's'} drawn"


# -- the page of live demos --------------------------------------------------------------------------------------------

TITLE = "Show it to others"
ABOUT = (
    "A tour shows the pages one by one with a sentence each. Presenting shows the same scenes in large type for a "
    "room. A deck is a plain file of such scenes, and you can make your own."
)
SECTION = "Live demos"
READY = "Ready to show"
MINE = "Your own deck"
EMPTY = (
    "Nothing is in it yet. On any page choose **Share** and then **Add this view to your deck**, or open a deck file."
)
OPEN_FILE = "Open a deck file"
SAVE = "Save as a file"
FORGET = "Empty it"
UNDO = "Bring it back"
LINK = "A link that holds the deck"
VIEW_LONG = (
    "The link of this view is longer than a deck holds, so it was not added: leave out some of what was chosen under "
    "Options, and add it again."
)
LINK_LONG = "The deck is too long to be part of a link: save it as a file and send that."
SCENE_TITLE, SENTENCE, SPEAKER, WANTS = "Title", "Sentence to read", "Speaker notes", "Which file it wants"
DECK_TITLE = "Title of the deck"
FIRST_TITLE = "My deck"
UP, DOWN, REMOVE, EDIT = "Up", "Down", "Remove", "Change"
OWN_FILE = "a file of the speaker's own"
UNTITLED = "Say in one sentence what this shows."
NEVER = (
    "A deck holds addresses and your words: never data of your own, answers, or names of columns of a file of your own."
)


def added(count: int) -> str:
    return f"Added: your deck has {count} scene{'' if count == 1 else 's'}. Reorder and caption them under {SECTION}."


def scenes(count: int) -> str:
    return f"{count} scene{'' if count == 1 else 's'}"


# -- sharing -----------------------------------------------------------------------------------------------------------

SHARE = "Share"
CLOSE_FIRST = "Close what is open on this page, then share it."
SHARE_TITLE = "Share this view"
COPY = "Copy this link: it opens the same picture."
QR = "or let phones scan it"
QR_ALT = "QR code of the link above"
QR_LONG = "The link is too long for a QR code."
CARRIES = (
    "A link carries what is set on this page. It never carries data of your own, answers, or names of columns of a "
    "file of your own."
)
OWN_DATA = "You are looking at data of your own: whoever opens the link sees a sample in their place."
EMBED = "Put the chart into a report or a course page"
EMBED_HELP = "Paste this where HTML is taken: it shows one chart with its headline."
ADD = "Add this view to your deck"
WHOLE = "Open in Epsilon Lab"
HERE = "This address works on this computer only: others reach it once the server has a name of its own."
