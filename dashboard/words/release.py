"""What a release says: before it, while it is confirmed, and afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dashboard.words import about_100, plural, safe
from dpcore.ledger.words import LONGEST_QUESTION
from dpcore.releases.asked import CHOSEN
from dpcore.releases.steps_chosen import UNCOVERED

TAB = "A private answer"
DRAW, DRAW_NOW = "Draw one private answer", "Get a private answer"
DRAW_MORE = "Draw another private answer"
HAVE_ONE = (
    "This question has its answer: it stands below. Another draw would be another number for the same question, and "
    "costs as much again."
)
OPEN_BELOW = f"Open “{TAB}” below"
NONE_AS_IT_IS = "No private answer can be drawn as it is. Why, and what to do, stands there."
DRAW_HELP = (
    "A real draw with real noise, charged to the budget. The answer stays in the ledger: after a refresh it is here, "
    "and reading it again is free."
)
KEPT = f"Kept in the ledger; its receipt, its report and sentences to copy stand under “{TAB}” below."
KEPT_PRACTICE = f"Kept in the ledger; its receipt and its report stand under “{TAB}” below."
ASKED = "What leaves this page"
FORECAST = "How wrong it may be"
COST = "What it costs"
SEEN = "**Who sees it:** whoever you show it to. The question, the answer and its cost stay in the ledger."
UNDO = "**Can it be undone?** No. An answer that was drawn stays drawn, and its cost stays spent."
UNDO_PRACTICE = (
    "**Can it be undone?** The answer: no. Its cost: yes, because this is practice about sample data; the practice "
    "budget can be reset on the Budget page."
)
COUNTS_ALONE = (
    "Only counts and sums are asked of a source of this server, and this question needs the rows themselves: ask which "
    "option is most common, for a median, the best simple rule, the cheapest column, an alarm over counts or a "
    "model on steps, or bring the rows as a file."
)
RULES = "By which fixed rules the rows are read for this answer"
CONFIRM_TITLE, CONFIRM, CANCEL = "Draw this private answer?", "Confirm and draw", "Cancel"
ELSEWHERE = (
    "This very question was answered in another window a moment ago: this is that answer, and nothing more was "
    "charged. Ask again if you want a second, independent draw."
)
PAID = "An earlier draw for this very question had failed: its charge paid for this one, and nothing more was charged."
RESET = " A practice budget can be reset on the Budget page."
ELSEWHERE_BEFORE = (
    "This very question about these people was answered before, or in another window a moment ago, and nothing more "
    "was charged. That answer stands below. It may be about another file of theirs: ask again to have one drawn from "
    "this table."
)
BEFORE = "**Answered before.** Reading these again costs nothing."
DRAWN_BEFORE = (
    "**Answered about these people before, or in another window.** These were drawn from their data as they were then, "
    "maybe from another file: do not show them as answers about this table. Reading them costs nothing."
)
Whence = Literal["file", "folder", "source"]
"""What an answer that was drawn before, or elsewhere, may come from: a file of these people; a source of the server's,
whose budget a file may have too; or such a source alone, since its table is a part of the question."""
_THEN: dict[Whence, str] = {
    "file": "from their data as they were then, maybe from another file",
    "folder": "from this source as it was then, or from a file about the same people",
    "source": "from this source as it was then",
}


def as_then(mechanism: str) -> str:
    """Above all that holds of what was asked for, or charged, when its question was drawn by another ``mechanism``."""
    return (
        f"**Asked when this question was drawn otherwise:** by {mechanism[:1].lower()}{mechanism[1:]}. What was asked "
        "for then is drawn so, and this holds of it, not what stands above."
    )


ANSWER = "Private answer"
ROWS_PUBLIC = (
    "How many rows there are is public here. What any one of them says is hidden: it may as well say something else."
)
SUGGESTED = (
    "how the file's cells are read and what they can hold, what one row is and how many one has, as somebody said "
    "who had seen the file"
)
STEPS = "which steps were done to its rows, as somebody chose who had seen the file"
NAMED_BY_ROWS = "which columns the file has: its rows name them"
UNCHECKED = "whoever has a larger part in the data than was stated, which nothing here can check"
LOOKED_AT = "what ε and the question themselves tell, which were chosen after looking at the data or an earlier file"
RECEIPT_SAYS_LOOKED = (
    "Charts of these data, or of others before them, were shown in this session. So the receipt will say, whatever you "
    f"click, type or leave as it is: {CHOSEN} Answers go without that line only while no chart of a file was shown in "
    "a session."
)


def such_as(example: str) -> str:
    """How an answer is written: by one that is declared, so that it tells of no row."""
    return f", written like “{safe(example, 40)}”"


def budget_first(gives: str) -> str:
    """What an answer would be, where no budget pays for one yet."""
    return (
        f"No answer yet. An answer gives out {gives}, and may be shown to anybody. It comes from the data themselves, "
        "and is paid from a budget of these people, which is opened there first."
    )


def none_drawn(gives: str, *, practice: bool) -> str:
    """What an answer would be, before there is one. Of a file its receipt says more: how it is read."""
    if practice:
        told = f"No answer yet. An answer gives out {gives}, and nothing else."
        return f"{told} Practice can be reset, real answers cannot. Your own file: see Data."
    return f"No answer yet. An answer gives out {gives}, and cannot be undone."


ANSWER_FOR = "**You answer for what nothing here can check.** Whoever gets the receipt reads it there:"
IF_NOT_SO = (
    "Where something that was stated is not so, somebody is hidden less than ε says: who has twice the rows that were "
    "stated, about as at twice the ε, and everybody else as before. A cell beyond what it can hold, as was stated, is "
    "moved to the nearest bound or counts as missing: that may make the answer wrong, and hides nobody less."
)
SEEN_FIRST = (
    "“Not covered by ε”: ε limits what the answer tells of somebody, and not what this tells. It was said or chosen by "
    "somebody who had seen the file, and one row can decide what a file looks like. That is usual, and mostly tells "
    "little."
)
SEEN_AFTER = (
    "To leave out how cells are read, declare what columns hold without the file, and bring that on the Data page."
)
NAMED_BY_LINE = "A table whose first line names its columns, such as CSV, leaves its rows out of that."


def answers_for(notes: Sequence[str]) -> str:
    """Beside a release: all that its receipt says of what is promised and not covered, whole, and what that means."""
    listed = "\n".join(f"- {safe(note, LONGEST_QUESTION)}" for note in notes)
    meant = (
        IF_NOT_SO if any("stated" in note for note in notes) else "",
        SEEN_FIRST if any(UNCOVERED in note for note in notes) else "",
        SEEN_AFTER if any("How the cells of" in note for note in notes) else "",
        NAMED_BY_LINE if any("was told by its rows" in note for note in notes) else "",
    )
    return f"{ANSWER_FOR}\n{listed}\n\n{' '.join(one for one in meant if one)}"


ANOTHER_DRAW = "Another draw could differ."
COPY, COPY_ALL = "In one sentence, to copy", "With all that goes with it, for whoever wants to know how sure it is"
OUTSIDE = "Not covered by that is what somebody stated or chose who had seen the data."


def may_show(claim: str, never: str) -> str:
    """What may be said of an answer, and what may not."""
    return f"You may show it and say: {claim}. You may not say: {never}."


def in_short(*, question: str, answer: str, cost: str) -> str:
    """An answer as a newsletter prints it, as plain text."""
    return (
        f"{question} {answer} (changed at random on purpose, to protect those in the data, so not exact; differential "
        f"privacy, {cost})."
    )


def to_copy(
    *, question: str, answer: str, cost: str, hides: str, odds: str, said: Sequence[str], outside: bool, receipt: str
) -> str:
    """An answer as it may be printed elsewhere, with all that must go with it, as plain text.

    ``hides`` is whom it hides, ``odds`` what somebody can guess with it, in a sentence; ``said`` sentences about this
    kind of answer; ``outside``: its receipt says that something was stated or chosen by whoever had seen the data.
    """
    parts = (
        f"{question} {answer}.",
        f"Noise was added on purpose (differential privacy, {cost}, hides any {hides}). {odds}",
        *said,
        OUTSIDE if outside else "",
        f"What this rests on that nobody could check, and what it does not hide, stands in receipt {receipt}.",
    )
    return " ".join(part for part in parts if part)


def conclude(unit: str) -> str:
    """What may be concluded from any answer that hides one ``unit``."""
    return (
        "You may show this answer. It is not certain: noise was added, so another draw could differ. It may not be "
        f"read as proof about any one {safe(unit, 40)}."
    )


def no_picture(problem: str) -> str:
    return f"This file gives no picture here: {problem}"


ONE_MORE = "**One more does not fit.** The answer below stays."
PRICE_FIXES = "Your first answer fixes what this budget protects"


def draw_for(cost: str) -> str:
    return f"{DRAW_NOW} for {cost}"


APART = "(It may lie where no answer about made-up rows does.)"


def last_drawn(answer: str, count: int, *, made_up: bool = False) -> str:
    """The last answer; ``made_up`` says that the page around it is about rows that are made up."""
    more = "" if count == 1 else f" (the last of {count:,})"
    if not made_up:
        return f"**Private answer{more}:** {answer}"
    return f"**Private answer from your file, not from the made-up rows{more}:** {answer} {APART}"


def drawn_before(answer: str, when: str, whence: Whence = "file") -> str:
    """Of the last answer of which nobody here knows that it was drawn from this table."""
    return f"Answered{' about these people' if whence == 'file' else ''} before, {when}, {_THEN[whence]}: {answer}"


def more_before(count: int) -> str:
    """Below the newest answers: how many there are besides."""
    return f"and {count:,} more, on the Budget page."


def those_before(whence: Whence) -> str:
    """Above all such answers."""
    if whence == "file":
        return DRAWN_BEFORE
    return (
        f"**Answered before, or in another window.** These were drawn {_THEN[whence]}: say so where you show them. "
        "Reading them costs nothing."
    )


def elsewhere_before(whence: Whence) -> str:
    """What became of a click that found such an answer."""
    if whence == "file":
        return ELSEWHERE_BEFORE
    return (
        "This very question was answered before, or in another window a moment ago, and nothing more was charged. That "
        f"answer stands below. It was drawn {_THEN[whence]}. To ask again draws another one, from the source as it is "
        "now, and is charged."
    )


def fixes(hidden: str, *, practice: bool) -> str:
    until = "until it is reset" if practice else "for good"
    return f"{PRICE_FIXES}, {until}: {hidden}."


def share(part: float) -> str:
    return f"{about_100(part)} of the budget"


def of_budget(takes: float | None, left: float) -> str:
    """What does not fit takes such a share of a budget, None for more than all, and such a share is ``left``."""
    taken = "more than the whole budget" if takes is None else share(takes)
    return f"{taken}, and {about_100(left, left=True)} is left"


def too_dear(cost: str, takes: str, most: str) -> str:
    """Why an answer does not fit a budget that counts otherwise than in ε; up to ``most`` one would fit, "" where that
    is not known."""
    fits = f"One of up to {most} would fit." if most else "One at a smaller ε may fit."
    return f"An answer for {cost} takes {takes}; nothing is charged for it. {fits}"


def confirm_cost(cost: str, part: str, budget: str) -> str:
    """``part`` of a budget as ``share`` says it, "" where it does not fit."""
    return f"It costs {cost}, {part or 'from the budget'} “{safe(budget)}”."


def after(more: int, many: int) -> str:
    fits = plural(more, "more answer", "more answers") if more < many else "a million more answers"
    return f"After it, about {fits} like it would fit. {UNDO}"


ALL_OF_THEM = (
    "Each answer may be shown to anybody. Whoever shows one of several says so, and not the one that they like best: "
    "it would look surer than it is."
)


def again(times: int) -> str:
    return (
        f"This very question has been answered {_times(times)} already. Reading that again is free: it stands on the "
        f"page behind this window. {ALL_OF_THEM}"
    )


def again_before(times: int, whence: Whence = "file") -> str:
    """Where none of them is known to be drawn from this table."""
    of, now = (" about these people", "this table") if whence == "file" else ("", "the source as it is now")
    return (
        f"This very question{of} has been answered {_times(times)} already, {_THEN[whence]}. Reading that again is "
        f"free: it stands on the page behind this window. A new answer is drawn from {now}. {ALL_OF_THEM}"
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
