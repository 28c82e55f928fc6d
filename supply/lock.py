"""The lock as values: which packages in which versions, and where only some computers need one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNTIME, TESTS = ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(?:;\s*([^\\]+?))?\s*\\?$", flags=re.M)


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """One locked package; ``marker`` says where it is needed, empty for everywhere."""

    name: str
    version: str
    marker: str = ""

    @property
    def url(self) -> str:
        """Its package URL (github.com/package-url/purl-spec)."""
        return f"pkg:pypi/{canonical(self.name)}@{self.version}"


def canonical(name: str) -> str:
    """How indexes write a package's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: Path) -> list[Pin]:
    """The packages of one lock file, in order. Raises ValueError for one that locks nothing."""
    found = [Pin(name, version, marker or "") for name, version, marker in _PIN.findall(file.read_text("utf-8"))]
    if not found:
        raise ValueError(f"{file.name} locks nothing")
    return sorted(found)
