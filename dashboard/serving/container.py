"""Whether this program runs in a container, whose own name and address nobody outside this computer can use."""

from __future__ import annotations

from pathlib import Path

MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files that Docker and Podman put into every container."""


def in_container() -> bool:
    """Whether one of these files is there."""
    return any(mark.exists() for mark in MARKS)
