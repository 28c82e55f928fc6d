"""What a mechanism says about itself: its names, its explanation, and whether a release can draw it."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The words and links that pages, tables and receipts need of one entry of a catalogue.

    ``name``: the field's term, in sentence case. ``plain``: what it does, in a few words for someone who has never
    heard of it, without a full stop. ``how``: one short paragraph in plain words. ``formula``: LaTeX, or empty.
    ``source``: who showed it, and where. ``textbook``: it is the textbook's own method, the one others are compared
    with; one in every catalogue.

    ``release``: by which rule a request of ``dpcore.releases`` draws it: a value of the request's field ``rule``
    (choices) or ``way`` (plays), or the key of a request that has no such field. Make the forecast for a release from
    the request: it may be calibrated more carefully than the mechanism. ``nearest``: the key of the entry to offer
    instead where there is no release; only then. Raises InvalidArgument.

    >>> coin = About(name="Fair coin", plain="heads or tails", how="A coin is thrown.", source="Folklore.")
    >>> coin.release is None
    True
    """

    name: str
    plain: str
    how: str
    source: str
    formula: str = ""
    textbook: bool = False
    release: str | None = None
    nearest: str | None = None

    def __post_init__(self) -> None:
        for field in ("name", "plain", "how", "source"):
            if not getattr(self, field).strip():
                raise InvalidArgument(field, "must not be empty")
        if self.release is not None and self.nearest is not None:
            raise InvalidArgument("nearest", "is only for what has no release")
