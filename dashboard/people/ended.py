"""Which logins were ended, held for a run of a page to ask, in bounds that no provider's people can pass.

People of a provider where anybody may register, or that is in other hands, are as many as it likes. So of one provider
``MOST_OF_PROVIDER`` are held one by one. Then the older half of them gives way to one line: all logins of that provider
that began up to then are ended. Nobody comes back by it, and who began later stays; people of others are not touched.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from dpcore.ledger.ended import ALL, Ended

MOST = 50
"""Logins of one person that are held one by one; beyond them all that began until then are ended."""
MOST_OF_PROVIDER = 20_000
"""As many take 14 MB."""


@dataclass(slots=True)
class _Whole:
    """That all logins that began up to ``since`` are ended, which has to be known ``until`` then."""

    since: int = 0
    until: int = 0

    def rise(self, since: int, until: int) -> None:
        self.since, self.until = max(self.since, since), max(self.until, until)

    def holds(self, since: float) -> bool:
        return self.since > 0 and since <= self.since


@dataclass(slots=True)
class _Theirs:
    """What one person ended: logins with when they began and until when they would have counted, and all up to then."""

    logins: dict[str, tuple[int, int]] = field(default_factory=dict)
    whole: _Whole = field(default_factory=_Whole)


@dataclass(slots=True)
class _Provider:
    people: dict[str, _Theirs] = field(default_factory=dict)
    whole: _Whole = field(default_factory=_Whole)


class Held:
    """Those that are known here. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.providers: dict[str, _Provider] = {}

    def end(self, one: Ended, latest: int) -> list[Ended]:
        """Note one more, in bounds; the lines that say so. Where it is one too many to be held by itself, it gives way
        to all of this person's that began up to ``latest``."""
        with self._lock:
            if self._many_of(one.provider, one.person):
                one = Ended(one.provider, one.person, f"{ALL}{latest}", latest, one.until)
            self.note(one)
            whole = self._too_many(one.provider)
            if whole is None:
                return [one]
            self.note(whole)
            return [one, whole]

    def note(self, ended: Ended) -> None:
        """One that was ended, as a line says it that is in bounds."""
        with self._lock:
            of = self.providers.setdefault(ended.provider, _Provider())
            if ended.person == ended.provider:
                of.whole.rise(ended.since, ended.until)
                for person in list(of.people):
                    _cover(of.people, person, ended.since)
                return
            theirs = of.people.setdefault(ended.person, _Theirs())
            if ended.login.startswith(ALL):
                theirs.whole.rise(ended.since, ended.until)
                theirs.logins = {login: one for login, one in theirs.logins.items() if one[0] > ended.since}
                return
            covering = next((one for one in (of.whole, theirs.whole) if 0 < ended.since <= one.since), None)
            if covering is None:
                _, until = theirs.logins.get(ended.login, (0, 0))
                theirs.logins[ended.login] = (ended.since, max(until, ended.until))
                return
            covering.rise(0, ended.until)
            if not theirs.logins and not theirs.whole.since:
                del of.people[ended.person]

    def are_ended(self, provider: str, person: str, login: str, since: float) -> bool:
        """They are as long as that is known: for how long a login counts is another thing here than where it ended."""
        with self._lock:
            of = self.providers.get(provider)
            if of is None:
                return False
            theirs = of.people.get(person)
            if of.whole.holds(since) or (theirs is not None and theirs.whole.holds(since)):
                return True
            return theirs is not None and login in theirs.logins

    def taken(self) -> list[Ended]:
        """All of them, which are held no more."""
        with self._lock:
            found = list(self.all())
            self.providers = {}
            return found

    def forget(self, before: float) -> None:
        """What would have ended by itself ``before`` is known no more."""
        with self._lock:
            for provider, of in list(self.providers.items()):
                for person, theirs in list(of.people.items()):
                    theirs.logins = {login: one for login, one in theirs.logins.items() if one[1] >= before}
                    if not theirs.logins and theirs.whole.until < before:
                        del of.people[person]
                if not of.people and of.whole.until < before:
                    del self.providers[provider]

    def all(self) -> Iterator[Ended]:
        """All of them; noted in any order they are the same."""
        with self._lock:
            found = [one for provider in self.providers for one in self._of(provider)]
            wholes = {provider: of.whole for provider, of in self.providers.items() if of.whole.since}
        yield from found
        for provider, whole in wholes.items():
            yield Ended(provider, provider, f"{ALL}{whole.since}", whole.since, whole.until)

    def _many_of(self, provider: str, person: str) -> bool:
        """Whether one more of this person is one too many to be held by itself."""
        theirs = self._people(provider).get(person)
        return theirs is not None and len(theirs.logins) >= MOST

    def _too_many(self, provider: str) -> Ended | None:
        """What the older half of those of this provider gives way to, where they are too many."""
        people = self._people(provider).values()
        if not provider or sum(len(one.logins) + (one.whole.since > 0) for one in people) < MOST_OF_PROVIDER:
            return None
        held = list(self._of(provider))
        since = sorted(one.since for one in held)[len(held) // 2]
        until = max(one.until for one in held if one.since <= since)
        return Ended(provider, provider, f"{ALL}{since}", since, until)

    def _of(self, provider: str) -> Iterator[Ended]:
        for person, theirs in self._people(provider).items():
            for login, (since, until) in theirs.logins.items():
                yield Ended(provider, person, login, since, until)
            if theirs.whole.since:
                yield Ended(provider, person, f"{ALL}{theirs.whole.since}", theirs.whole.since, theirs.whole.until)

    def _people(self, provider: str) -> dict[str, _Theirs]:
        of = self.providers.get(provider)
        return {} if of is None else of.people


def _cover(people: dict[str, _Theirs], person: str, since: int) -> None:
    theirs = people[person]
    theirs.logins = {login: one for login, one in theirs.logins.items() if one[0] > since}
    if not theirs.logins and theirs.whole.since <= since:
        del people[person]
