"""What the heading of a column says of its rows, whatever stands below it."""

from __future__ import annotations

import re
from itertools import pairwise

MOVERS = frozenset(
    (
        *("person", "people", "human", "individual", "somebody", "man", "woman", "child", "adult", "patient", "client"),
        *("customer", "user", "visitor", "guest", "caller", "passenger", "driver", "rider", "member", "employee"),
        *("worker", "student", "pupil", "teacher", "citizen", "resident", "voter", "donor", "subscriber", "player"),
        *("participant", "respondent", "applicant", "family", "household"),
    )
)
"""Units of which everybody knows that one moves the entries of several steps or options and is none of them. Where any
other is protected it may be a row itself, so that none is added or removed: it would show in how many rows there are.
"""

_WORDS = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ONE = {"children": "child", "men": "man", "women": "woman", "families": "family", "womens": "woman", "mens": "man"}
_MANY = {"people", "staff"}
_SOMEBODY = (MOVERS - _MANY) | {"nurse", "doctor"}
_NUMBERED = ("", "id", "ids", "no", "nr", "num", "number", "code", "key", "identifier", "name", "names")
_WHOSE = re.compile(
    r"(?:first|last|middle|full|given|family|maiden|contact)names?|surname|forename|nachname|vorname"
    r"|emails?(?:address(?:es)?)?|(?:cell|mobile|tele)?phones?(?:no|nr|numbers?)?|mobile(?:no|nr|numbers?)?"
    r"|ssn|socialsecurity(?:no|nr|number)?|iban|passports?(?:no|nr|numbers?)?"
    r"|(?:subject|account|contact)(?:ids?|no|nr|numbers?|codes?|keys?)"
)
"""Headings, without blanks and signs, of what each has one of."""
_SOMEONE = re.compile(
    r"(?:.+[ .-])?(?:ids?|uid|uuid|guid|e-?mails?(?: address)?|phone|phone number|telephone|mobile|ssn|iban|passport)"
    r"|(?:first|last|middle|full|given|family|user|customer|client|patient|pupil|student|employee|member|person|contact"
    r"|participant|respondent|passenger)?[ .-]?(?:name|names)"
    r"|surname|forename|nachname|vorname|(?:customer|client|patient|account|member|employee|card|order|invoice|policy)"
    r"[ .-]?(?:no\.?|nr\.?|num(?:ber)?|code|key)",
    re.IGNORECASE,
)

_COUNTED = (_SOMEBODY - {"person", "human", "man", "woman", "child"}) | frozenset(
    (
        *("case", "death", "birth", "visit", "call", "complaint", "incident", "accident", "crime", "admission", "trip"),
        *("ride", "vote", "view", "click", "visitor", "arrival", "departure", "booking", "appointment", "infection"),
        *("application", "registration", "enrolment", "enrollment", "login", "ticket"),
    )
)
"""Of which several, as a heading, are how many there were in each row."""
_GROUPS = frozenset(
    (
        *("district", "region", "city", "town", "country", "state", "county", "province", "municipality", "ward"),
        *("area", "zone", "borough", "village", "street", "postcode", "zip", "shop", "store", "branch", "school"),
        *("class", "course", "site", "station", "clinic", "hospital", "department", "office", "centre", "center"),
        *("airport", "port", "stop", "route", "channel", "party", "candidate", "team", "club", "topic", "weekday"),
    )
)
"""What several people have in common, as the places where they are counted."""


def names_someone(name: str) -> bool:
    """Whether a column's name says that its values tell people apart: no options, and nothing to take a median of."""
    return _SOMEONE.fullmatch(" ".join(re.sub(r"([a-z])([A-Z])", r"\1 \2", name).replace("_", " ").split())) is not None


def tells_of_one(name: str, *, options: bool) -> bool:
    """Whether a heading says that each row is somebody, as “EmployeeName”, “employee no.”, “E-mail” and, above declared
    ``options``, “patients” or “customer group” do. “callers” above anything else says how many they are, and a bare
    “name” or “id” may be that of anything."""
    plain = re.sub(r"['’]s\b", "", name)
    words = [word.lower() for word in _WORDS.findall(plain)]
    whole = re.findall("[a-z]+", plain.lower())
    joined = "".join(whole)
    if _WHOSE.fullmatch(joined) and (options or not re.search("(?<!s)s$", joined)):
        return True
    everybody = _SOMEBODY | _MANY
    if any(word.removesuffix(end) in everybody for word in whole for end in _NUMBERED[1:] if word.endswith(end)):
        return True
    if any(one in _MANY and after in _NUMBERED[1:] for one, after in pairwise(words)):
        return True
    if options:
        return any(_is_one(_ONE.get(word, word.removesuffix("s"))) for word in words) or not _MANY.isdisjoint(words)
    return any(_is_one(one) and after in _NUMBERED for one, after in pairwise([*words, ""]))


def _is_one(word: str) -> bool:
    return word in _SOMEBODY or word.endswith("person")


def counts_several(name: str) -> bool:
    """Whether a heading says that each number below it counts several, as “callers”, “new cases”, “number of visits”
    and “patient count” do."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or tells_of_one(name, options=False):
        return False
    last = words[-1]
    if last in ("count", "counts", "people") or words[:2] in (["number", "of"], ["no", "of"], ["count", "of"]):
        return True
    return last != (one := _ONE.get(last, last.removesuffix("s"))) and one in _COUNTED


def names_group(name: str) -> bool:
    """Whether a heading is of what many people have in common, as a district or a shop."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and bool({words[-1], words[-1].removesuffix("s")} & _GROUPS)
