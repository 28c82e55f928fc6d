"""The wheel: built without isolation, put into an empty folder, and started there by somebody who may not write to it.

What is looked at is the installed program alone: the project's folder is neither where it runs nor on its path.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.people import Person
from dashboard import __main__ as command_line
from dashboard.serving import container
from tests.browser.server import free_port

ROOT = Path(__file__).parents[1]
PATIENCE = 120
# what the working copy holds beside the project, and what a build would leave in it
BUILT_FROM = ("dpcore", "dashboard", "data", ".streamlit", "pyproject.toml", "setup.py", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that others may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="epsilon-lab-wheel-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def wheel(folder: Path) -> Path:
    copy = folder / "project"
    for name in BUILT_FROM:
        at = ROOT / name
        if at.is_dir():
            shutil.copytree(at, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy(at, copy / name)
    _pip("wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(copy))
    shutil.rmtree(copy)
    (found,) = folder.glob("epsilon_lab-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(folder: Path, wheel: Path) -> Path:
    target = folder / "installed"
    _pip("install", "--no-deps", "--target", str(target), str(wheel))
    for path in (target, *target.rglob("*")):
        path.chmod(0o555 if path.is_dir() or path.parent.name == "bin" else 0o444)
    return target


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "--quiet", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run([*command, *arguments[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_the_wheel_holds_every_file_of_the_program_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    packed = {name for name in names if name.split("/")[0] in ("dpcore", "dashboard")}
    ours = {
        path.relative_to(ROOT).as_posix()
        for package in ("dpcore", "dashboard")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    tables = {f"dpcore/datasets/bundled/{path.name}" for path in (ROOT / "data").glob("*.csv")}
    assert tables, "no tables were found to be packed"
    assert packed == ours | tables | {"dpcore/datasets/bundled/README.md", "dashboard/config.toml"}
    assert {name.split("/")[0] for name in names} - {"dpcore", "dashboard"} == {"epsilon_lab-0.1.0.dist-info"}


def _somebody() -> list[str]:
    """What makes the superuser of a container somebody to whom the rights of files apply."""
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


@pytest.mark.thorough
def test_the_installed_program_opens_its_pages_for_somebody_without_rights(folder: Path, installed: Path) -> None:
    home = folder / "home"
    home.mkdir()
    refused = subprocess.run([*_somebody(), "touch", str(installed / "new")], capture_output=True, check=False)
    assert refused.returncode != 0, "whoever runs this may write to the installed program, so it would show nothing"
    port = free_port()
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    log = (folder / "server.log").open("w")
    process = subprocess.Popen(
        [*_somebody(), sys.executable, "-P", str(installed / "bin" / "epsilon-lab"), "serve", "--port", str(port)],
        cwd=home,
        env=kept | {"HOME": str(home), "PYTHONPATH": str(installed), "EPSILON_LAB_WARM_UP": "0"},
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(process, address, folder / "server.log")
        assert b"<title>" in urllib.request.urlopen(address, timeout=PATIENCE).read()
        for page in ("", "selection"):
            asyncio.run(_visit(Person(address, page)))
    finally:
        process.terminate()
        process.wait(30)
        log.close()
    told = (folder / "server.log").read_text()
    assert address in told
    assert "Traceback" not in told, told
    written = {path.relative_to(home).parts[0] for path in home.rglob("*")}
    assert all(name.startswith(".") for name in written), f"the folder it was started in is no longer empty: {written}"


async def _visit(person: Person) -> None:
    await person.arrive()  # raises when the script fails
    await person.leave()


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text())


def test_the_settings_reach_the_server_wherever_it_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit finds its settings by the folder it is started in; the command line brings them along."""
    from streamlit import config

    chosen = command_line.options(8600, "127.0.0.1")
    assert chosen["client.showErrorDetails"] == "none"
    assert chosen["server.address"] == "127.0.0.1"
    assert chosen["server.port"] == 8600
    for name in chosen:
        assert name in config.get_config_options(), f"Streamlit has no setting {name}"
    monkeypatch.setenv("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "5")
    assert "server.maxUploadSize" not in command_line.options(8600, "127.0.0.1"), "the environment's wins"


def test_a_wrong_call_is_told_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["serve", "--port", "99999"]) == 2
    assert command_line.main(["serve", "--address", "everybody"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all(line.startswith("epsilon-lab: the ") for line in told)


def test_the_names_under_which_others_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "own_addresses", lambda: ["192.0.2.7"])
    everywhere = "0.0.0.0"  # noqa: S104 - not bound
    names = command_line.options(8600, everywhere, ["lab.example"])["server.allowedHosts"]
    assert {"localhost", "127.0.0.1", "192.0.2.7", "lab.example"} <= set(names)
    assert "*" not in names
    assert "192.0.2.7" not in command_line.options(8600, "127.0.0.1")["server.allowedHosts"]


def test_a_container_s_own_address_is_no_name_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MARKS", (tmp_path / "none", tmp_path))
    assert command_line.own_addresses() == []


def test_the_ledger_s_tools_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = str(tmp_path / "ledger.db")
    assert command_line.main(["ledger", "--ledger", ledger, "init"]) == 0
    assert command_line.main(["ledger", "--ledger", ledger, "verify"]) == 0
    assert "Sound: 0 records" in capsys.readouterr().out
    assert command_line.main(["ledger", "--ledger", str(tmp_path / "none.db"), "verify"]) == 1
