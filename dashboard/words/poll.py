"""What the private poll says, to the speaker and to the phones. No sentence here is made from a vote but one's own."""

from __future__ import annotations

import math

from dashboard.words import amount, at_most, odds, plural, safe
from dashboard.words import number as written
from dashboard.words import times_in_100 as times

# -- refusals ----------------------------------------------------------------------------------------------------------

NO_QUESTION = "Write the question first."
UNSEEN = "The question and the options must not hold characters that cannot be seen."
NO_FORM = "Choose what people answer with: options, yes or no, or a number."
EMPTY_OPTION = "An option must not be empty."
TWICE = "Two options are the same; each must differ from the others."
NO_BOUNDS = "The smallest number must be below the largest, and the step above 0."
ALIKE = "Some of these numbers would read alike, so nobody could tell them apart; use a larger step."
NO_STEP = "The step must divide the way from the smallest to the largest number evenly."
NOT_OFFERED = "That is not one of the choices."
VOTING_CLOSED = "Voting is closed; votes stay as they are."
GUESSING_CLOSED = "Guesses are not taken now."
NOT_YET = "It is not time for that yet."
NOT_ANNOUNCED = "The true counts stay hidden: they were not announced before people voted."
NOT_JOINED = "This phone came after the room was closed; it can look on."
NOT_HOST = "Only the browser that opened this poll can do that."
ENDED = "This poll has ended."
WRONG_CODE = (
    "There is no poll with this code. Check it on the speaker's screen; a poll also ends after two hours, or with its "
    "server."
)
AT_ANOTHER = (
    "Press “Join” to get to the poll. If you have a file or a poll of your own open in this browser, join with another "
    "browser or phone: the file would have to be brought again, and you could no longer lead your poll from here."
)
WITH_ITS_SERVER = (
    "The server that ran this poll does not answer. If it has stopped, the poll has ended with it, and the votes are "
    "forgotten: the speaker can open another one. Else open the link again in a minute."
)
TOO_MANY = "Too many wrong codes were tried on this server. Wait ten seconds, then try again."


def too_long(most: int) -> str:
    return f"The question must have at most {most} characters."


def option_too_long(most: int) -> str:
    return f"An option must have at most {most} characters."


def options_between(fewest: int, most: int) -> str:
    return f"Give {fewest} to {most} options, one on each line."


def people_between(fewest: int, most: int) -> str:
    return f"The number of people must be a whole number from {fewest} to {most:,}."


def epsilon_between(least: float, most: float) -> str:
    return f"ε must be a number from {least:g} to {most:g}."


def too_fine(most: int) -> str:
    return f"The step is too fine: at most {most:,} numbers from the smallest to the largest."


def outside(low: float, high: float) -> str:
    return f"The number must lie between {low:g} and {high:g}."


def cannot_ask(why: str) -> str:
    return f"This question cannot be asked: {why}."


def full(most: int) -> str:
    return f"This poll is full: {most:,} phones are in it."


def its_share(most: int) -> str:
    return f"From your network {most} polls run already, as many as it may have. Try again when one of them has ended."


def no_room(most: int) -> str:
    return f"This server runs {most} polls already. Try again when one of them has ended."


# -- the speaker opens a poll ------------------------------------------------------------------------------------------

TITLE = "Private poll"
WHY = (
    "The room votes by phone. Nobody is shown a vote or a count, not even you; then one private answer is drawn from "
    "the real votes, with a receipt for everyone."
)
START_FROM = "Start from"
OWN = "a question of your own"
QUESTION = "Question"
ANSWERS = "People answer with"
FORMS = {"options": "one of some options", "yes_no": "yes or no", "number": "a number (the median is told)"}
OPTIONS = "Options, one on each line (2 to 8)"
LOW, HIGH, STEP = "Smallest number", "Largest number", "Step"
PEOPLE = "About how many will vote?"
PEOPLE_HELP = (
    "Count the people in the room, not their votes. The forecast is made for this number, so that it tells nothing "
    "about who votes what."
)
EPSILON = "Privacy loss ε of the one answer"
EPSILON_HELP = "Smaller ε hides each vote better; larger ε gives a more accurate answer. It cannot be changed later."
COUNTS = "Show the true counts at the end"
COUNTS_HELP = (
    "True counts are not private. With this, every phone is told before voting that they will be shown; it cannot be "
    "changed once the poll is open."
)
OPEN = "Open the poll"
DECLARED = "Change what is asked, and at which ε"
PRESENT_HELP = "The same page in large type for the wall, without the sidebar."
OTHER_ROOM = "Another room of yours is still there; opening this one ends it."
RULES = (
    "Each poll has a budget of its own for exactly one answer. Two polls about the same thing in the same room add up: "
    "ε and ε."
)

RULES_LIVE = "Each room has a budget of its own. Two rooms with the same people about the same thing add up: ε and ε."


def bundled() -> dict[str, dict[str, object]]:
    """Polls to start from, by title: what each fills in."""
    return {
        "Which snack?": {
            "form": "options",
            "question": "Which of these would you like in the break?",
            "options": "Fruit\nCake\nSandwiches\nNothing",
        },
        "A used password": {
            "form": "yes_no",
            "question": "Do you use one password for more than one account?",
        },
        "A late payment": {
            "form": "yes_no",
            "question": "Have you paid a bill late in the last 12 months?",
        },
        "Hours of sleep": {
            "form": "number",
            "question": "How many hours did you sleep last night?",
            "low": 0.0,
            "high": 12.0,
            "step": 0.5,
        },
    }


# -- the speaker's screen ----------------------------------------------------------------------------------------------

JOIN = "Join with your phone"
LOCAL = (
    "Phones cannot reach this address: only this computer knows it. Start the server for the room with `epsilon-lab "
    "serve --address 0.0.0.0` (or `make serve ADDRESS=0.0.0.0`), in the same network as the phones, and open the poll "
    "then. Where others reach it already, through a container or a proxy, open this page under the name that they use."
)
LOCAL_ON_STAGE = (
    "Phones cannot reach this address: only this computer knows it. The page Private poll says how to open it for the "
    "room."
)


def elsewhere(name: str) -> str:
    return (
        f"You opened this page under a name that only this computer knows, so phones are sent to {safe(name, 100)}, by "
        "which the server is known. They must be in the same network: try it with one phone first."
    )


PHONES = "phones are in"
PHONES_WHY = (
    "The number of phones is shown because everybody in the room can see who holds one. Who voted, and what, is not "
    "shown to anyone, and neither is how many have voted."
)
STEPS = {"voting": "1 Vote", "guessing": "2 Guess", "forecast": "3 Forecast", "answered": "4 Answer", "ended": "Ended"}
TO_GUESS = "Close voting and let the room guess"
TO_FORECAST = "Close the guesses and show the forecast"
DRAW = "Draw the one private answer"
DRAW_AGAIN = "The answer was not made. Draw again: nothing is charged twice."
SHOW_COUNTS = "Show the true counts"
GUESS_SEEN = "Guesses are shown as counts: they say nothing about a vote."
TRUE_COUNTS = "The true counts"
TRUE_MARK = "Not private: shown because it was announced before people voted."
LEAD = "Suppose the first choice has about this many of 100 votes"
LEAD_HELP = "An assumption of yours, to see when it becomes hard. The real votes are not read for this picture."
ANSWER = "The private answer"
NOBODY = "No phone is in yet."
CANNOT_DRAW = "The ledger is closed, so no private answer can be drawn: "


def guess_question(form: str, near: float) -> str:
    """What the room guesses."""
    if form == "number":
        return f"How often will the private median be within {value(near)} of the true one?"
    return "How often will the private winner be the true one?"


def guess_name(guess: int) -> str:
    return f"{guess} times in 100"


def guessed(count: int) -> str:
    return plural(count, "guess", "guesses")


def forecast(form: str, near: float, people: int, chance: float, epsilon: float) -> str:
    """The headline of the forecast."""
    said = (
        f"the private median is within {value(near)} of the true one"
        if form == "number"
        else "the private winner is the true one"
    )
    return f"In a simulated room of {people:,} people, {said} about **{times(chance)}** at ε = {written(epsilon)}."


def room_guessed(given: int, name: str, count: int) -> str:
    """The room's guess that was given most often."""
    return f"The room gave {guessed(given)}; most often “{name}” ({count})."


SIMULATED = (
    "Simulated from what was declared before anybody voted: the question, its answers, and how many people. No vote "
    "was read."
)
CURVE_NAME = "this poll"
CURVE_TITLE = "times right in 100"


def cost(epsilon: float) -> str:
    return (
        f"It costs ε = {amount(epsilon)}, which is this room's whole budget: there is one answer and no second try. "
        "The charge and the answer are written into the ledger; votes are not."
    )


def counts_coming(counts: bool) -> str:
    """What was announced about the true counts, for phones and screen."""
    if counts:
        return (
            "**The speaker will show the true counts afterwards.** They are not private: what they tell about a vote "
            "is limited by nothing but the size of the room."
        )
    return "The true counts will not be shown to anyone."


def private_answer(form: str, answer: dict[str, object]) -> str:
    """The answer as a headline."""
    if form == "number":
        found = answer["value"]
        assert isinstance(found, int | float)  # noqa: S101 - the request says so
        return f"The median is about {value(found)}"
    return f"Most common: {safe(choice(str(answer['option'])))}"


def true_median(median: float | None, votes: int) -> str:
    """The truth of a number."""
    if median is None:
        return "Nobody gave a number."
    return f"The true median is **{value(median)}**, of {plural(votes, 'vote')}."


def sure(chance: float, form: str, near: float) -> str:
    """How much to believe it, from the forecast."""
    said = f"within {value(near)} of the true median" if form == "number" else "the true winner"
    return f"In the simulated room such an answer is {said} about {times(chance)}; it may be wrong here."


def bound(votes: float) -> str:
    """The request's own bound."""
    return (
        f"Whatever the votes are, 95 times in 100 the named choice has at most {math.floor(votes):,} votes fewer than "
        "the most common one."
    )


# -- the phone ---------------------------------------------------------------------------------------------------------

JOIN_TITLE = "Join a private poll"
CODE = "Code on the speaker's screen"
ENTER = "Join"
CHANGE = "You can change your mind until voting closes."
SEND = "Send my number"
TAKE_BACK = "Take my vote back"
NONE_YET = "You have not voted yet."
WAIT_CLOSED = "Voting is closed. Your vote stays as it is."
WAIT_FORECAST = "The forecast is on the speaker's screen. Then one private answer is drawn."
LATE = "Voting had closed when this phone came, so it looks on: it has no vote in this poll."
GUESS_PUBLIC = "Your guess is shown to the room as a count. It says nothing about your vote."
OTHERWISE = "Had I voted otherwise?"
OTHERWISE_OTHER = "Compare with"
NO_VOTE = "no vote"
OTHERWISE_NOTE = (
    "For your eyes only. The other votes here are simulated from the declared number of people: the real ones are "
    "hidden from you too."
)
MINE, OTHER = "as you voted", "had you voted otherwise"
RECEIPT = "Receipt (JSON)"
WAITING = "The speaker moves on; this page follows by itself."
ENDED_WITHOUT = "This poll has ended without an answer. Your vote is forgotten."
ENDED_AFTER = "This poll has ended. Your vote is forgotten; the answer stays here for a while."
WHO_SEES = "Who sees what, and what is kept?"
WHO_SEES_TEXT = (
    "- Nobody is shown your vote: not the speaker, not the room. Your own phone shows it to you.\n"
    "- Until the poll ends, your vote is in the memory of the server that this page comes from; whoever runs that "
    "server could read it there. It is never written to disk. It is forgotten when the speaker ends the poll, after "
    "two hours at the latest, or when the server stops.\n"
    "- The answer, its cost and the question are written into the ledger, without votes.\n"
    "- One vote a phone: a random token in a cookie of this browser tells phones apart. That stops mistakes, not "
    "cheats: somebody with two browsers has two votes. Without cookies a reload makes this a new phone.\n"
    "- How many phones are in is shown on the screen."
)


def your_vote(vote: str | float) -> str:
    shown = safe(choice(vote)) if isinstance(vote, str) else value(vote)
    return f"Your vote: **{shown}**. {CHANGE}"


def protection(epsilon: float) -> str:
    """What the answer can do to a guess about one's vote."""
    return (
        "Anyone's guess about your vote: right 50 times in 100 before the answer, at most "
        f"**{at_most(odds(epsilon))}** in 100 after it, whatever else they know."
    )


def told(told: float, allowed: float) -> str:
    """What one's own vote changes in a simulated room."""
    return (
        f"Between these two, a guess that is right 50 times in 100 becomes right at most **{at_most(told)}** times in "
        f"100 here; the method allows {at_most(allowed)} in any room."
    )


def value(number: float) -> str:
    """A number of a poll."""
    return f"{round(number, 9):g}" if abs(number) < 1e6 else f"{round(number, 9):,.10g}"


def choice(option: str) -> str:
    """A choice as it is shown: yes and no with a capital."""
    return option.capitalize() if option in ("yes", "no") else option


def receipt_line(cost_said: str, when: str, digest: str) -> str:
    return f"It cost {cost_said}. Drawn {when}. Receipt {digest}."


def phones(count: int) -> str:
    return "1 phone is in" if count == 1 else f"{count:,} phones are in"
