"""What of each row is read where rows come in batches: places among declared options and cuts, whole numbers all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Of every row the place of ``target`` and then one for each of ``looks``.

    A look is a column and its ascending cuts, in the column's unit or in days since 1970: its place is how many of them
    are reached. Without cuts it is that of its option (no, yes). The target's is that of its option, or for a number
    in which of ``parts`` of its declared range it is, 0 to ``parts``. What is none of these is −1.
    """

    target: str
    parts: int | None
    looks: tuple[tuple[str, tuple[float, ...] | None], ...]

    @property
    def width(self) -> int:
        """How many numbers are read of each row."""
        return 1 + len(self.looks)
