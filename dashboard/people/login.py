"""Who is at the page where there is a login: a provider of OpenID Connect vouches for them (``st.login``).

Switched on by EPSILON_LAB_LOGIN, the path of a TOML file. Its table ``[auth]`` is what Streamlit takes for ``st.login``
(one provider, or several as ``[auth.name]``); ``[lab]`` says how long a login counts and where roles come from. With a
file that is not right the server does not start: nobody gets in because of a mistyped setting. Of what the provider
says only the subject, its address, the time and the claim that holds the roles are used; nothing else is kept
(``login_cookie``), and no token.

A provider states its own address, so whoever runs a weak one could state that of another, and name anybody there. Hence
each speaks for one address alone, which comes from the settings; and roles are taken from those that they name. Whoever
runs one could also lead a browser on to another, whose answer would come back as an answer of the first, and be handed
to it. Hence an answer has to say whose it is (RFC 9207), unless the settings name its provider as one that does not.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import logging
import os
import re
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.people import logged_out
from dashboard.words import login as words
from dpcore.errors import InvalidArgument
from dpcore.ledger.roles import AT, ROLES, Person, Role, checked
from dpcore.secret_files import warn_if_others_read

VARIABLE = "EPSILON_LAB_LOGIN"
HOURS = 12.0
DEFAULT = "default"
"""What Streamlit calls the provider that stands in ``[auth]`` itself."""
_NEEDED = ("client_id", "client_secret", "server_metadata_url")
_SHARED = ("redirect_uri", "cookie_secret")
_ISSUER = "issuer"
_METADATA = "/.well-known/openid-configuration"
_NAME = re.compile(r"[A-Za-z0-9-]+")
_LEAST_SECRET = 32  # characters
_WORDS = "scope"
_IDENTITY = ("sub", "iss", "iat", "nonce", "origin", "is_logged_in", "provider")
"""What is kept of a login beside its roles."""
_EARLY = 120.0  # seconds by which the provider's clock may be ahead
_LATEST = 1e12  # a time that no clock shows: whoever says so may say a number of any length
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What the file says: ``auth`` for Streamlit, the address (``issuers``) for which each provider speaks, by its name
    (``DEFAULT`` for that of ``[auth]`` itself), for how many ``hours`` a login counts, and the ``claim`` whose values,
    by ``roles``, are roles, at the providers of ``claim_from``; none for the ledger's own. Answers of the ``silent`` do
    not say whose they are."""

    auth: Mapping[str, Any] = field(repr=False)
    issuers: Mapping[str, str]
    hours: float = HOURS
    claim: str = ""
    claim_from: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    roles: Mapping[str, Role] = field(default_factory=dict)


def configured() -> Login | None:
    """The login of this server; None where there is none. Raises ValueError with a sentence."""
    named = os.environ.get(VARIABLE, "")
    return _read(named) if named else None


@cache
def _read(path: str) -> Login:
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        warn_if_others_read(Path(path), f"the file that {VARIABLE} names")
    except OSError:
        raise ValueError(f"the file that {VARIABLE} names cannot be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise ValueError(f"the file that {VARIABLE} names is not TOML") from None
    auth, lab = found.get("auth"), found.get("lab", {})
    if not isinstance(auth, dict) or not isinstance(lab, dict) or set(found) - {"auth", "lab"}:
        raise ValueError(f"the file that {VARIABLE} names must have the table [auth], may have [lab], and nothing else")
    issuers = _issuers(auth)
    return Login(auth=auth, issuers=issuers, **_lab(lab, tuple(issuers)))


def _issuers(auth: Mapping[str, Any]) -> dict[str, str]:
    """The address for which each provider speaks. No two have one, so that nobody of one is a person of another."""
    found: dict[str, str] = {}
    for name in _providers(auth):
        where, table = ("[auth]", auth) if name == DEFAULT else (f"[auth.{name}]", auth[name])
        metadata = table["server_metadata_url"]
        stated = table.get(_ISSUER, metadata.removesuffix(_METADATA) if metadata.endswith(_METADATA) else None)
        if not isinstance(stated, str) or not _bare(stated) or any(sign.isspace() for sign in stated):
            raise ValueError(f"issuer is missing in {where}: its server_metadata_url does not end with {_METADATA}")
        if _bare(stated) in found.values():
            raise ValueError(f"the provider of {where} has the issuer of another one: each needs its own")
        found[name] = _bare(stated)
    return found


def _bare(issuer: str) -> str:
    """An address as it is compared: some providers end theirs with a stroke."""
    return issuer.rstrip("/")


def _providers(auth: Mapping[str, Any]) -> tuple[str, ...]:
    named = tuple(name for name, value in auth.items() if isinstance(value, dict) and name != "client_kwargs")
    for name in _SHARED:
        _text(auth, name, "[auth]")
    if len(auth["cookie_secret"]) < _LEAST_SECRET:
        raise ValueError(f"cookie_secret in [auth] must be random, with at least {_LEAST_SECRET} characters")
    if not auth["redirect_uri"].endswith("/oauth2callback"):
        raise ValueError("redirect_uri in [auth] must be this server's address with /oauth2callback at its end")
    if "expose_tokens" in auth:
        raise ValueError("expose_tokens in [auth] must be left out: no page needs a token")
    if DEFAULT in named:
        raise ValueError(f"[auth.{DEFAULT}] would be taken for [auth]: give that provider another name")
    for name in named:
        for key in _NEEDED:
            _text(auth[name], key, f"[auth.{name}]")
    if not named or any(key in auth for key in _NEEDED):
        for key in _NEEDED:
            _text(auth, key, "[auth]")
        named = (DEFAULT, *named)
    if not all(_NAME.fullmatch(name) for name in named):
        raise ValueError("each name of a provider, as in [auth.name], must be made of letters, digits and hyphens")
    if len({name.lower() for name in named}) < len(named):  # Streamlit looks for them without regard to capitals
        raise ValueError("two providers in [auth] have one name; the one in [auth] itself is called default")
    if importlib.util.find_spec("authlib") is None:
        raise ValueError("a login needs Authlib: install epsilon-lab[login]")
    return named


def _text(table: Mapping[str, Any], name: str, where: str) -> None:
    if not isinstance(table.get(name), str) or not table[name]:
        raise ValueError(f"{name} is missing in {where} of the file that {VARIABLE} names")


def _lab(lab: Mapping[str, Any], providers: tuple[str, ...]) -> dict[str, Any]:
    if set(lab) - {"hours", "claim", "claim_from", "silent", "roles"}:
        raise ValueError("[lab] holds hours, claim, claim_from, silent and roles, and nothing else")
    hours, claim, roles = lab.get("hours", HOURS), lab.get("claim", ""), lab.get("roles", {})
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0.0 < hours <= logged_out.MOST_HOURS:
        raise ValueError(f"hours in [lab] must be a number above 0 and at most {logged_out.MOST_HOURS:g}")
    if not isinstance(claim, str) or not isinstance(roles, dict) or (roles and not claim):
        raise ValueError("claim in [lab] must name the claim whose values [lab.roles] turns into roles")
    if not all(isinstance(role, str) and role in ROLES for role in roles.values()):
        raise ValueError(f"each role in [lab.roles] must be one of {', '.join(ROLES)}")
    trusted = lab.get("claim_from", list(providers) if claim and len(providers) == 1 else [])
    if not isinstance(trusted, list) or any(name not in providers for name in trusted) or bool(trusted) != bool(claim):
        raise ValueError(
            f"claim_from in [lab] must list the providers whose claim gives roles, of {', '.join(providers)}; "
            "without a claim it is left out"
        )
    silent = lab.get("silent", list(providers) if len(providers) == 1 else [])
    if not isinstance(silent, list) or any(name not in providers for name in silent):
        raise ValueError(f"silent in [lab] must list providers, of {', '.join(providers)}")
    return {
        "hours": float(hours),
        "claim": claim,
        "claim_from": frozenset(trusted),
        "silent": frozenset(silent),
        "roles": roles,
    }


def secrets() -> dict[str, Any] | None:
    """What Streamlit is told of the login."""
    here = configured()
    if here is None:
        return None
    tables = {name: _without_issuer(value) if isinstance(value, dict) else value for name, value in here.auth.items()}
    return {"auth": _without_issuer(tables)}


def _without_issuer(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != _ISSUER}


def person() -> Person | None:
    """Who has logged in and may still be here; None for nobody, and where there is no login."""
    return None if configured() is None else known(st.user.to_dict())


def known(said: Mapping[str, Any]) -> Person | None:
    """Of whom a session says so much, if they have logged in and may still be here."""
    here = configured()
    if here is None or said.get("is_logged_in") is not True or refused(said) or logged_out.is_ended(said):
        return None
    return Person(subject=named(said), claimed=_claimed(here, said))


def refused(said: Mapping[str, Any]) -> str:
    """Why whom a provider names is nobody here, in a sentence; empty for somebody, and where there is no login."""
    here, since = configured(), said.get("iat")
    if here is None:
        return ""
    try:
        named(said)
    except InvalidArgument:
        return words.NO_SUBJECT
    if isinstance(since, bool) or not isinstance(since, int | float) or not 0 < since < _LATEST:
        return words.no_time(here.hours)
    if not -_EARLY <= time.time() - since <= here.hours * 3600.0:
        return words.no_time(here.hours)
    return "" if _speaks_for(here, said.get("provider"), str(said["iss"])) else words.OTHER_ISSUER


def named(said: Mapping[str, Any]) -> str:
    """The subject of whom a provider names. Raises InvalidArgument where that is nobody's."""
    name, issuer = said.get("sub"), said.get("iss")
    if not all(isinstance(one, str) and one for one in (name, issuer)):
        raise InvalidArgument("subject", "must be text")
    return checked(f"{name}{AT}{issuer}")


def could_be(subject: str) -> bool:
    """Whether somebody could log in here under this name: one of the providers vouches for it."""
    here, (_, _, issuer) = configured(), subject.rpartition(AT)
    return here is not None and _bare(issuer) in here.issuers.values()


def still() -> Callable[[], bool]:
    """What tells later, where no page is there to say who asks, whether who is at this one may still be here."""
    said = dict(st.user.to_dict())
    return lambda: known(said) is not None


def kept(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of all that a provider said: who it is, and one value of the claim for each role that it gives."""
    here = configured()
    lean = {name: said[name] for name in _IDENTITY if name in said}
    if here is not None and said.get("provider") in here.claim_from and here.claim not in lean:
        lean[here.claim] = list({role: value for value, role in _named(here, said)}.values())
    return lean


def needed() -> bool:
    """Whether whoever is at the page has to log in before they see any other, or any more of it."""
    return configured() is not None and person() is None


def log_out() -> None:
    """End the login of whoever is at the page, in all its tabs."""
    here = configured()
    if here is not None and person() is not None:
        logged_out.end(st.user.to_dict(), here.hours * 3600.0 + _EARLY)
    st.logout()


def may_answer(provider: str, issuer: str | None) -> bool:
    """Whether an answer to a login that began at this provider can be its own: ``issuer`` is whose it says it is."""
    here = configured()
    if here is None or (issuer is None and provider not in here.silent):
        _LOG.warning("an answer to a login at the provider %s was refused: it does not say whose it is", provider)
        return False
    return issuer is None or _speaks_for(here, provider, issuer)


def _speaks_for(here: Login, provider: object, issuer: str) -> bool:
    """Whether a login came from the provider whose people it names."""
    if not isinstance(provider, str) or provider not in here.issuers:
        return False
    if _bare(issuer) != here.issuers[provider]:
        _say_once(provider, here.issuers[provider])
        return False
    return True


@cache
def _say_once(provider: str, expected: str) -> None:
    _LOG.warning("a login of the provider %s was refused: it did not say that its issuer is %s", provider, expected)


def _claimed(here: Login, said: Mapping[str, Any]) -> frozenset[Role] | None:
    """Roles as a provider says them that may give roles; a value that no role is named for counts as none."""
    if said.get("provider") not in here.claim_from:
        return None
    return frozenset(role for _, role in _named(here, said))


def _named(here: Login, said: Mapping[str, Any]) -> list[tuple[str, Role]]:
    """The values of the claim for which there is a role, each with that role.

    A text is one value, such as a title that holds a role's name; but for ``scope``, whose words are values (RFC 6749).
    """
    values = said.get(here.claim, [])
    if isinstance(values, str):
        values = values.split() if here.claim == _WORDS else [values]
    listed = values if isinstance(values, list) else []
    named: Mapping[str, Role] = here.roles or {role: role for role in ROLES}
    return [(value, named[value]) for value in listed if isinstance(value, str) and value in named]


def practice_token(subject: str) -> str:
    """The secret that a person's own practice budgets go by, the same in every browser of theirs."""
    here = configured()
    key = "" if here is None else str(here.auth["cookie_secret"])
    return hmac.digest(key.encode(), f"practice {subject}".encode(), hashlib.sha256).hex()[:32]
