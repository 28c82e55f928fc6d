"""What can be released: one module per kind of question, each a frozen dataclass that ``dpcore.release`` runs.

A request has public parameters as fields, ``key``, ``mechanism``, ``neighbours``, ``cost`` and ``what`` (one plain
sentence), ``validate(data)``, which refuses data it cannot answer about, and ``answer(data)``, which draws by
``dpcore.releases.draws`` alone and returns something JSON can hold. Nothing here may import ``random`` or
``numpy.random``, or reach a module that does.
"""

from __future__ import annotations

from dpcore.discovery import discover


def catalog() -> dict[str, type]:
    """Kinds of request by their ``key``."""
    return dict(discover("dpcore.releases"))
