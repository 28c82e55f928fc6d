"""The bill of materials is that of the lock; and a package against which something is known is found out."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from supply import advisories, sbom, scan
from supply.lock import RUNTIME, TESTS, Pin, pins

ROOT = Path(__file__).parents[1]


def record(name: str, package: str, *events: dict[str, str], **more: Any) -> dict[str, Any]:
    span = {"type": "ECOSYSTEM", "events": list(events)}
    about = {"package": {"ecosystem": "PyPI", "name": package}, "ranges": [span]}
    return {"id": name, "aliases": [], "published": "2026-01-01T00:00:00Z", "affected": [about], **more}


OLD_PIP = record("PYSEC-1", "pip", {"introduced": "0"}, {"fixed": "21.1"})
LIST = (
    OLD_PIP,
    record("PYSEC-2", "some-thing", {"introduced": "1.0"}, {"fixed": "1.5"}, {"introduced": "2.0"}, {"fixed": "2.1"}),
    record("PYSEC-3", "last", {"introduced": "0"}, {"last_affected": "3.0"}),
    record("PYSEC-4", "taken-back", {"introduced": "0"}, withdrawn="2026-01-02T00:00:00Z"),
    {"id": "X", "affected": [{"package": {"ecosystem": "npm", "name": "last"}, "versions": ["4.0"]}]},
)


@pytest.fixture
def local(tmp_path: Path) -> Path:
    place = tmp_path / "all.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for one in LIST:
            archive.writestr(f"{one['id']}.json", json.dumps(one))
    return place


def test_the_bill_of_materials_is_the_lock_s() -> None:
    """``python -m supply.sbom`` after ``make lock``."""
    assert sbom.FILE.read_text(encoding="utf-8") == sbom.text()
    listed = [(part["name"], part["version"]) for part in json.loads(sbom.text())["components"]]
    locked = [line.split(" ")[0] for line in RUNTIME.read_text().splitlines() if "==" in line]
    assert sorted("==".join(one) for one in listed) == sorted(line.lower().replace("_", "-") for line in locked)
    assert len(set(listed)) == len(listed)


def test_another_lock_has_another_bill() -> None:
    parts = pins(RUNTIME)
    changed = [Pin(part.name, "0.0.1", part.marker) if part.name == "streamlit" else part for part in parts]
    assert sbom.bill(changed) != sbom.bill(parts)
    found = sbom.bill(parts)
    assert {"pip", "setuptools", "streamlit"} <= {part["name"] for part in found["components"]}
    (asked,) = [one for one in found["dependencies"] if one["ref"] == found["metadata"]["component"]["bom-ref"]]
    assert any(name.startswith("pkg:pypi/streamlit@") for name in asked["dependsOn"])
    assert not any(name.startswith("pkg:pypi/starlette@") for name in asked["dependsOn"]), "it asks for that itself"


@pytest.mark.parametrize(
    ("name", "version", "names"),
    [
        ("some-thing", "0.9", []),
        ("Some_Thing", "1.4.9", ["PYSEC-2"]),
        ("some-thing", "1.5", []),
        ("some-thing", "2.0", ["PYSEC-2"]),
        ("some-thing", "2.1", []),
        ("some-thing", "no version", ["PYSEC-2"]),
        ("last", "3.0", ["PYSEC-3"]),
        ("last", "4.0", []),
        ("taken-back", "1.0", []),
        ("unknown", "1.0", []),
    ],
)
def test_which_versions_a_record_is_about(local: Path, name: str, version: str, names: list[str]) -> None:
    known = advisories.by_package(local).get(advisories.canonical(name), [])
    assert [one["id"] for one in known if advisories.affects(one, name, version)] == names


def test_a_list_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="OSV records"):
        advisories.by_package(tmp_path)


@pytest.mark.thorough
def test_the_lock_is_scanned_by_the_local_list(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real pip-audit: once with a package that is known to be bad, in two versions, once with today's lock."""
    monkeypatch.setenv(scan.LOCAL, str(local))
    bad = tmp_path / "requirements.txt"
    bad.write_text("some.thing==1.2\nsome.thing==1.6 ; python_version > '3.11'\nlast==9.0\n")
    assert scan.main([str(bad)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "some.thing 1.2: PYSEC-2; fixed in 1.5, 2.1",
        "Scanned 3 locked packages: 1 known vulnerabilities.",
    ]
    monkeypatch.setitem(scan.ACCEPTED, "PYSEC-2", "of this test")
    again = ([(Pin("some.thing", "1.2"), ["1.5"], ["PYSEC-2"])], [])
    monkeypatch.setattr(scan, "known", lambda locked, address: again)
    assert scan.main([str(bad)]) == 0, "what was accepted is not told of"


def test_without_a_list_and_a_network_it_says_that_nothing_was_scanned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(scan.LOCAL, raising=False)
    _fail_after(0, monkeypatch)
    assert scan.main([]) == 0
    assert scan.main(["--strict"]) == 1
    assert capsys.readouterr().out.count("Not scanned for known vulnerabilities") == 2


def test_a_list_without_what_is_long_known_is_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.json").write_text(json.dumps(LIST[2]))
    monkeypatch.setenv(scan.LOCAL, str(tmp_path))
    monkeypatch.setattr(scan, "_audit", lambda batch, address: [{"name": "pip", "version": "20.0", "vulns": []}])
    assert scan.main([]) == 1


@pytest.mark.parametrize("answered", [1, 2])
def test_a_connection_that_is_lost_on_the_way_is_no_clean_scan(
    answered: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first answers had come; the rest once counted as “nothing is known”."""
    monkeypatch.delenv(scan.LOCAL, raising=False)
    _fail_after(answered, monkeypatch)
    locked = tmp_path / "requirements.txt"
    locked.write_text("one==1.0\none==2.0 ; python_version > '3.11'\ntwo==1.0\n")
    with pytest.raises(RuntimeError, match="pip-audit failed"):
        scan.main([str(locked)])
    assert "local list" not in capsys.readouterr().out


def test_a_package_without_an_answer_is_not_taken_for_one_without_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_audit", lambda batch, address: [{"name": "One_", "version": "1.0", "vulns": []}])
    assert scan.known([Pin("one-", "1.0")]) == ([], [])
    with pytest.raises(RuntimeError, match=r"no answer about two\.$"):
        scan.known([Pin("one-", "1.0"), Pin("two", "1.0")])


def _fail_after(answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pip-audit that has so many calls answered, and then no connection, as it says itself."""
    calls: list[int] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        calls.append(1)
        if len(calls) > answers:
            return subprocess.CompletedProcess(command, 1, "", "ERROR: Could not connect (ConnectionError)")
        pinned = [line.split("==") for line in Path(command[command.index("-r") + 1]).read_text().split()]
        known: dict[str, Any] = {"pip": [{"id": "X", "aliases": [], "fix_versions": []}]}
        told = [{"name": name, "version": version, "vulns": known.get(name, [])} for name, version in pinned]
        return subprocess.CompletedProcess(command, 0, json.dumps({"dependencies": told}), "")

    monkeypatch.setattr("supply.scan.subprocess.run", run)


def test_what_tests_the_program_is_locked_and_scanned_too() -> None:
    assert "pip-audit" in {pin.name for pin in pins(TESTS)}
    assert len(pins(TESTS)) > 80
