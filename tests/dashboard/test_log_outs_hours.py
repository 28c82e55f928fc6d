"""A log-out counts as long as its login may, whatever ``hours`` was at the server where it was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.people import ended, logged_out, login
from dpcore.ledger.ended import ALL

FEW, HOUR, SINCE = 4, 3600.0, 1.0e6
SETTINGS = """
[auth]
redirect_uri = "https://lab.example/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "lab"
client_secret = "secret"
server_metadata_url = "https://login.example/.well-known/openid-configuration"
[lab]
hours = {}
"""


def who(name: str, since: float = SINCE, nonce: str = "1") -> dict[str, Any]:
    said = {"is_logged_in": True, "iss": "https://login.example", "provider": login.DEFAULT}
    return said | {"sub": name, "iat": since, "nonce": nonce}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[float, float], None]:
    """Starts a server that knows nothing but its files, with so many ``hours``, so many seconds after the logins."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "keys" / "ledger.key"))
    monkeypatch.setattr(logged_out, "_LINES", 1)
    monkeypatch.setattr(logged_out, "_TIDY", 0.0)
    monkeypatch.setattr(logged_out, "_owed", ended.Held())

    def anew(hours: float, after: float) -> None:
        file = tmp_path / f"{hours}.toml"
        file.write_text(SETTINGS.format(hours), encoding="utf-8")
        file.chmod(0o600)
        monkeypatch.setenv(login.VARIABLE, str(file))
        for name, value in (("_ended", ended.Held()), ("_read", None), ("_seen", None), ("_tidied", 0.0)):
            monkeypatch.setattr(logged_out, name, value)
        for module in (logged_out, login):
            monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: SINCE + after))

    return anew


def logs_out(monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]) -> None:
    page = SimpleNamespace(user=SimpleNamespace(to_dict=lambda: said), logout=lambda: None)
    monkeypatch.setattr(login, "st", page)
    login.log_out()


def as_it_was(patch: pytest.MonkeyPatch) -> None:
    """Until the hours of where it was made were over."""
    are_ended = ended.Held.are_ended

    def still(held: ended.Held, provider: str, person: str, login: str, since: float) -> bool:
        untils = [one.until for one in held.all() if one.person == person]
        return are_ended(held, provider, person, login, since) and max(untils) > logged_out.time.time()

    patch.setattr(ended.Held, "are_ended", still)


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "none": lambda _: None,
    "for the hours of where it was made": as_it_was,
    "kept for less": lambda patch: patch.setattr(logged_out, "_KEPT", 2 * HOUR),
}


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(("before", "later"), [(0.1, 1.0), (1.0, 12.0), (12.0, logged_out.MOST_HOURS), (12.0, 1.0)])
def test_whoever_logged_out_is_nobody_however_long_a_login_counts_later(
    started: Callable[[float, float], None],
    monkeypatch: pytest.MonkeyPatch,
    before: float,
    later: float,
    alone: bool,
    mutant: str,
) -> None:
    """Where ``hours`` was raised, or is another at another server, a copied cookie was that person again once the
    former hours were over; by itself (``alone``) or among so many that a line of all of theirs says it."""
    MUTANTS[mutant](monkeypatch)
    monkeypatch.setattr(ended, "MOST", FEW)
    gone = [who("olga", nonce=str(number)) for number in range(1 if alone else FEW + 1)]
    started(before, 60.0)
    assert all(map(login.known, gone))
    for one in gone:
        logs_out(monkeypatch, one)
    assert any(one.login.startswith(ALL) for one in logged_out.known()) != alone
    back = set()
    for part in (0.01, 0.5, 0.99, 1.0):
        now = later * part * HOUR
        if now > 60.0:
            started(later, now)
            assert login.known(who("ben")) is not None, "or nothing was tested"
            logs_out(monkeypatch, who("somebody", nonce=str(part)))  # what counts no more is forgotten
            back |= {part for one in gone if login.known(one)}
            started(later, now)
            back |= {part for one in gone if login.known(one)}
    raised = later > before
    found_out = {"none": False, "for the hours of where it was made": raised, "kept for less": raised and later > 2.0}
    assert bool(back) == found_out[mutant], back


def test_no_login_counts_for_longer_than_a_log_out_is_kept(started: Callable[[float, float], None]) -> None:
    started(logged_out.MOST_HOURS, 60.0)
    assert login.known(who("olga")) is not None
    started(logged_out.MOST_HOURS + 1, 60.0)
    with pytest.raises(ValueError, match="at most 720"):
        login.known(who("olga"))
