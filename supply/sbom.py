"""The parts of the program as a bill of materials: CycloneDX 1.6 (ECMA-424), written from the lock.

``python -m supply.sbom`` writes ``sbom.cdx.json``; a test keeps it true. It lists what is installed with the program,
not what tests it. The digests of every file that may be installed are in the lock itself.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from supply.lock import ROOT, RUNTIME, Pin, canonical, pins

FILE = ROOT / "sbom.cdx.json"


def bill(parts: Sequence[Pin]) -> dict[str, Any]:
    """The document. ``parts`` are the locked packages; what the program asks for by itself stands as its dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        *project["dependencies"],
        *(one for some in project.get("optional-dependencies", {}).values() for one in some),
    ]
    wanted = {canonical(re.split(r"[\[<>=;\s]", line)[0]) for line in lines}
    program = {
        "type": "application",
        "bom-ref": f"pkg:pypi/{project['name']}@{project['version']}",
        "name": project["name"],
        "version": project["version"],
        "description": project["description"],
        "licenses": [{"license": {"id": project["license"]}}],
        "purl": f"pkg:pypi/{project['name']}@{project['version']}",
    }
    direct = [part.url for part in parts if canonical(part.name) in wanted]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": [_component(part) for part in parts],
        "dependencies": [{"ref": program["bom-ref"], "dependsOn": direct}],
        "compositions": [
            {"aggregate": "complete", "assemblies": [program["bom-ref"]]},
            {"aggregate": "unknown", "dependencies": [part.url for part in parts]},
        ],
    }


def _component(part: Pin) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": part.url,
        "name": canonical(part.name),
        "version": part.version,
        "purl": part.url,
        "scope": "optional" if part.marker else "required",
    }
    if part.marker:
        found["properties"] = [{"name": "epsilon-lab:only where", "value": part.marker}]
    return found


def text() -> str:
    """The document as the file holds it."""
    return json.dumps(bill(pins(RUNTIME)), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
