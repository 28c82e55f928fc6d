"""What can be released: one module per kind of question, each a frozen dataclass that ``dpcore.release`` runs.

A request is made by its ``of`` from a ``Declaration`` and the person's own entries. Its fields are public, and so are
``what`` (one plain sentence), ``mechanism``, ``neighbours``, ``cost``, ``rules`` (by which any table whatever is
answered about), ``notes`` (for the receipt) and ``error_bound(beta)``. ``answer(rows)`` opens ``PrivateRows``: it reads
them into whole numbers (``read``) and draws by ``dpcore.releases.draws`` alone (``draw``), giving what JSON can hold;
``law`` is its exact law, where there is one. Nothing here may import ``random`` or ``numpy.random``, or reach a module
that does, or one that reads values.
"""

from __future__ import annotations

from dpcore.discovery import discover


def catalog() -> dict[str, type]:
    """Kinds of request by their ``key``."""
    return dict(discover("dpcore.releases"))
