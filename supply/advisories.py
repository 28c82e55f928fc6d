"""A local list of known vulnerabilities, asked as OSV's service is (ossf.github.io/osv-schema).

The list is a folder of JSON records, or a zip archive of them, as OSV gives out for PyPI. It is served on 127.0.0.1 for
as long as pip-audit asks, so that the same program looks for the same thing with a network and without.
"""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from supply.lock import canonical


def records(place: Path) -> Iterator[dict[str, Any]]:
    """Every record of the list. Raises ValueError where there is none."""
    found = 0
    if place.is_dir():
        texts = (file.read_bytes() for file in sorted(place.rglob("*.json")))
        for text in texts:
            found += 1
            yield json.loads(text)
    elif zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    found += 1
                    yield json.loads(archive.read(name))
    if not found:
        raise ValueError("the local list must be a folder or a zip archive of OSV records (JSON)")


def by_package(place: Path) -> dict[str, list[dict[str, Any]]]:
    """The records about packages of PyPI, by canonical name; those that were taken back are left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records(place):
        if record.get("withdrawn"):
            continue
        named = {canonical(one["package"]["name"]) for one in record.get("affected", ()) if _is_pypi(one)}
        for name in named:
            found.setdefault(name, []).append(record)
    return found


def affects(record: dict[str, Any], name: str, version: str) -> bool:
    """Whether a record is about this version; one that is no version counts as affected, to be looked at."""
    try:
        asked = Version(version)
    except InvalidVersion:
        return True
    for one in record.get("affected", ()):
        if not _is_pypi(one) or canonical(one["package"]["name"]) != canonical(name):
            continue
        if version in one.get("versions", ()):
            return True
        if any(_within(span.get("events", ()), asked) for span in one.get("ranges", ()) if span["type"] == "ECOSYSTEM"):
            return True
    return False


def _is_pypi(affected: dict[str, Any]) -> bool:
    return bool(affected.get("package", {}).get("ecosystem") == "PyPI")


def _within(events: Any, asked: Version) -> bool:
    """The events of a range in order of version: in from ``introduced``, out from ``fixed``."""
    inside = False
    for event in sorted(events, key=_at):
        (kind, value), *_ = event.items()
        if kind == "introduced" and (value == "0" or asked >= Version(value)):
            inside = True
        elif (kind == "fixed" and asked >= Version(value)) or (kind == "last_affected" and asked > Version(value)):
            inside = False
    return inside


def _at(event: dict[str, str]) -> Version:
    return Version(next(iter(event.values())))


@contextmanager
def served(place: Path) -> Iterator[str]:
    """The list behind an address of this computer that answers as OSV's does."""
    known = by_package(place)

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name, version = asked["package"]["name"], asked["version"]
            found = [one for one in known.get(canonical(name), ()) if affects(one, name, version)]
            body = json.dumps({"vulns": found} if found else {}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/query"
    finally:
        server.shutdown()
        server.server_close()
