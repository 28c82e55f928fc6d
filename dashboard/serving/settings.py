"""What the environment sets, and whether it is written as it should be: its owner is there to mend it when a server
starts."""

from __future__ import annotations

import os

from dashboard.background.once import once

REPLICAS, PLACE = "EPSILON_LAB_REPLICAS", "EPSILON_LAB_REPLICA"
"""Where ``replicas`` says how many of this server there are, and the how many-th this one is."""


def number(variable: str, usual: int) -> int:
    """A whole number above 0 from the environment; what is none counts as not set."""
    said = os.environ.get(variable, "").strip()
    return int(said) if said.isascii() and said.isdigit() and int(said) > 0 else usual


def check() -> None:
    """Before anything listens. Raises ValueError with a sentence."""
    if "EPSILON_LAB_LEDGER" in os.environ:
        from dpcore.ledger.engine import ledger_url

        ledger_url(None)
    if os.environ.get("EPSILON_LAB_LOGIN"):
        from dashboard.people import login

        login.configured()
    if os.environ.get("EPSILON_LAB_CLUSTER"):
        from dashboard.background import cluster

        cluster.wanted()
    if os.environ.get("EPSILON_LAB_SOURCES"):
        from dpcore.datasets.in_place.sources import configured_sources

        configured_sources()


@once()
def trouble() -> str:
    """What ``check`` says, "" where all is well; asked once by the page, for where it is run without the server."""
    try:
        check()
    except ValueError as error:
        return f"epsilon-lab: {error}"
    return ""
