"""Whether whoever is at the page is known: who has logged in, or without a login the person at this computer.

Decided from where the server listens, under which names, and how this visitor came, and always the careful way: where
others could come from another computer, or who comes through a proxy, there is practice only
(``dpcore.ledger.visitor``). An owner who has put a login of their own before the server says so with
EPSILON_LAB_VISITORS=trusted. Where the server has a login of its own (``dashboard.people.login``), that alone decides.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st

from dashboard.background import this_run
from dashboard.people import login
from dashboard.serving.heads import network
from dashboard.serving.settings import REPLICAS, number
from dpcore.ledger.asked import Actor

TRUSTED = "trusted"
_FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via")


def restricted() -> bool:
    """Whether this visitor may do no more than practise."""
    return this_run.once(("restricted",), _restricted)


def _restricted() -> bool:
    if login.configured() is not None:
        return login.person() is None
    if os.environ.get("EPSILON_LAB_VISITORS") == TRUSTED:
        return False
    if REPLICAS in os.environ:  # everybody comes through the balancer
        return True
    return opened(st.get_option("server.address"), st.get_option("server.allowedHosts")) or _from_elsewhere()


def actor() -> Actor:
    """Of which kind somebody is who may do more than practise, as receipts record it."""
    return "trusted" if os.environ.get("EPSILON_LAB_VISITORS") == TRUSTED else "local"


def alone() -> bool:
    """Whether nobody but the person at this computer comes to this server."""
    return not restricted() and login.configured() is None and actor() == "local"


def address() -> str:
    """The network that this visitor comes from, as the gate counts it; "" where it is not known."""
    return network(st.context.ip_address or "")


def replicas() -> int:
    """How many servers share the visitors who come to this one."""
    return number(REPLICAS, 1)


def opened(address: str | None, names: list[str] | None) -> bool:
    """Whether a server that listens at ``address`` under ``names`` is there for others than this computer's own."""
    return not is_here(address or "") or any(not is_here(name) for name in names or ())


def is_here(name: str) -> bool:
    """Whether a host's name or address is this computer's own, for itself alone."""
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _from_elsewhere() -> bool:
    headers = st.context.headers
    # whatever it says: of several lines of one name, a visitor's own empty one may come before the proxy's
    if any(name in headers for name in _FORWARDED):
        return True
    return not is_here(urlsplit(f"//{headers.get('Host', 'localhost')}").hostname or "")
