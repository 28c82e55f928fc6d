"""What the pages say where people log in: who they are, what they may do, and what waits for whom."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from dashboard.words import amount, plural, safe, visible
from dpcore.ledger.roles import AT, LONGEST

_TICKS, _BLANKS = re.compile("`+"), re.compile(" {2,}")
TITLE = "Log in to Epsilon Lab"
WHY = (
    "This server holds real privacy budgets, so it asks who you are. It keeps the name by which your login knows you, "
    "in receipts and in the journal, and neither your password nor any token."
)
LOG_IN, LOG_OUT = "Log in", "Log out"
FIRST = "Log in first: nobody is logged in at this page any more. Nothing was changed."
TOO_LONG = (
    "Your login says more about you than a browser keeps for this server, so nobody was logged in. "
    "Tell the people who run it: the name by which your login knows you, or that of a role, is too long."
)
NO_SUBJECT = (
    "Your login calls you by a name that could be taken for another person's, so nobody was logged in: it begins or "
    "ends with a blank or a sign that cannot be seen, holds a control character, or has more than 600 letters with the "
    "address of who vouches for it. Tell the people who run this server."
)
OTHER_ISSUER = (
    "Your login comes from another address than its provider has here, so nobody was logged in. Tell the people who "
    "run this server: its log names the address that was expected."
)
NO_LOGIN = {
    "denied": "You were not logged in: your provider refused it, or you did not go on with it there.",
    "failed": "You were not logged in: your login did not come to its end. Log in once more; if that does not help, "
    "tell the people who run this server, whose log says why.",
    "away": "You were not logged in: the provider of logins does not answer. Try again in a moment.",
}
"""By the words of ``people/wanted.py``."""
NAMES = {"viewer": "viewer", "analyst": "analyst", "owner": "owner", "auditor": "auditor"}
LEVELS = {"see": "sees it", "ask": "asks from it", "own": "owns it", "none": "nothing any more"}
COMPARED = {
    "compare": "brought a file, which was compared with files of others",
    "alike": "brought a file that looks like these people",
}
STATES = {"waiting": "waits", "granted": "granted", "refused": "refused", "withdrawn": "withdrawn"}
NOTHING_TO_DRAW = "; nothing can be drawn for it any more"
ASKED_ANEW = "; asked for anew since, in other words"
GRANTED = "Granted, on the record: whoever asked can draw it now, as far as their role lets them."
EVERYONE = "everyone who logs in"

NOT_FOR_ASKING = "This budget is not shared with you for asking. Ask one of its owners."
NO_MORE = "The budget of these people is not shared with you any more, so nothing can be asked of it. Ask its owners."
NONE_TO_ASK = (
    "There is no budget of these people from which you may ask. Only an owner opens one: ask one to open it, or to "
    "share theirs with you."
)
TAKEN_AWAY = (
    "Your role is by now to look at samples and at what was shared with you: files and private answers take an "
    "analyst. So your own data were let go; choose a sample on the Data page."
)
GIVEN_BACK = "Your own data were let go, since your role did not let you have any: bring them again on the Data page."
SHARING, REQUESTS, RECORDS = "Who may do what", "Requests", "All records"
OWN_NONE = "You own no budget yet."
NO_REQUESTS = "No request waits, and none was decided. One is made when an answer costs more than its person may take."
ASK_TITLE, ASK, ASK_NOW = "Ask an owner for this answer?", "Send the request", "Ask for approval"
ASK_HELP = "It costs more than you may take of this budget alone. Nothing is charged until an owner has granted it."
ASKED = "Your request was sent: it waits for an owner of the budget. Nothing was charged."
ASKED_BEFORE = (
    "You had asked for this very answer already, so it was not asked for again. Nothing was charged; below it says "
    "what became of it."
)
BELOW = "You have asked for it: “A private answer”, below, says what became of that."
YOURS = "Your own requests that wait"
WITHDRAW = "Withdraw it"
WITHDRAWN = "You withdrew your request, so nobody decides about it. Nothing was charged."
WITHDRAWN_NOW = "Withdrawn, on the record: nobody decides about it any more. Nothing was charged."
LOOK_AGAIN = "Look again"
DRAW_GRANTED = "Draw the answer that was granted"
DRAWN_FROM_THIS = "It is drawn from the table that is here now, whichever file of these people it was asked about."
FOR_GOOD = "A budget that is closed stays closed, and its receipts stay. Nothing is charged to it any more."
OPEN_FOR = "Open a budget for data that others bring"
HIDES = {"add_remove": "One added or removed", "replace_one": "One's row changed"}
"""What a budget hides that is opened without a table, which would say of whom it hides one."""
OPEN_FOR_UNIT = "Protected, for good: one (a person, a visit …)"
OPEN_FOR_HELP = (
    "Say whose data they are and what may be spent about them in all. Share it with an analyst afterwards; they choose "
    "it on the Data page when they bring the file."
)


def no_time(hours: float) -> str:
    """Of a login that would count no longer, or not yet."""
    return (
        f"Your provider says that you logged in there longer ago than a login counts here ({amount(hours)} hours), or "
        "tells a time that is not now, so nobody was logged in. Log in there anew; if that does not help, tell the "
        "people who run this server."
    )


def who(roles: Collection[str]) -> str:
    """Somebody's roles in words; everyone may view."""
    named = [name for role, name in NAMES.items() if role in roles and role != "viewer"]
    return " and ".join(named) if named else NAMES["viewer"]


def shown(subject: str) -> str:
    """A person, as a page names them: what the login calls them, and who vouches for it, to the letter. As code, so
    that the address in it is no link."""
    name = who_is(subject, LONGEST)
    fence = "`" * (1 + max(map(len, _TICKS.findall(name)), default=0))
    beside = " " if name[:1] == "`" or name[-1:] == "`" else ""  # which is not part of the code
    return f"{fence}{beside}{name}{beside}{fence}"


def who_is(subject: str, most: int) -> str:
    """A person in about so many letters: a long name is cut, and never the address that vouches for it, which a name
    can be made to look like."""
    name, _, address = subject.rpartition(AT)
    whole = visible(address, len(address))
    told = f"{visible(name, max(20, most - len(whole)))} at {whole}" if name else visible(subject, most)
    return _BLANKS.sub(lambda found: " " + "⟨U+0020⟩" * (len(found[0]) - 1), told)  # a page shows several as one


NOBODY_S = (
    "Nobody can log in here under that name, so nothing was changed: it has to be written as their sidebar shows it, "
    "with “ at ” and the address of who vouches for it."
)
NOT_MET = "Nobody of that name has a role or a share yet: compare it, letter by letter, with what their sidebar shows."


def now_may(name: str, level: str, *, same: bool, met: bool = True) -> str:
    """What became of sharing a budget with somebody, whose name the ledger had ``met`` before."""
    told = LEVELS.get(level, level).removesuffix(" any more" if same else "")
    new = "" if met else f" {NOT_MET}"
    return f"{name}: {told}, {'as before; nothing was changed' if same else 'on record'}.{new}"


def waits(by: str) -> str:
    return f"Your request of {by} waits for an owner of this budget. Nothing was charged."


def granted(by: str, because: str) -> str:
    return f"{shown(by)} granted your request. {_because(because)}Nothing is charged before you draw."


def outgrown(asked: str, now: str) -> str:
    """Of a request that was made before its budget said what it hides."""
    return (
        f"This was asked for when it would have taken {asked} of the budget, which by now says what it hides and takes "
        f"{now} for it. So it has to be asked for anew; nothing was charged."
    )


def refused(by: str, because: str) -> str:
    return f"{shown(by)} refused your request. {_because(because)}Nothing was charged."


def _because(because: str) -> str:
    return f"They wrote: “{safe(because, 400)}” " if because else ""


RAISED = "A limit that you raised yourself does not count for you."


def above(limit: float | None, *, raised: bool = False) -> str:
    """Why an answer needs somebody else. ``limit`` is that of who asks; ``raised`` says that they set a higher one."""
    most = "" if limit is None else f" (ε = {amount(limit)} over all your answers that nobody approved)"
    why = f" {RAISED}" if raised else ""
    return f"This is more than you may take of this budget alone{most}, so an owner of it decides.{why}"


def limit_words(limit: float | None, lower: Mapping[str, float], me: str) -> str:
    """What one person may take alone; ``lower`` is what counts for those who raised it themselves, ``me`` reads it."""
    if limit is None:
        told = f"Everyone{' else' if lower else ''} who may ask from it may take all of it alone."
    else:
        each = "Each other person" if lower else "Each person"
        told = f"{each} may take ε = {amount(limit)} of it alone; what goes beyond waits for another person, an owner."
    for subject, most in lower.items():
        whose, why = ("You", RAISED) if subject == me else (shown(subject), "They raised the limit themselves.")
        told += f" {whose} may take ε = {amount(most)} alone. {why}"
    return told


def waiting(count: int) -> str:
    return f"{plural(count, 'request')} waiting for you" if count else "No request waits for you"
