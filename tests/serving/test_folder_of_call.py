"""Whoever may put a file into the folder in which the program is called, or into the home folder, decides nothing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from benchmarks.people import Person
from tests.browser.server import ROOT, free_port

PATIENCE = 180
OURS = ("dashboard", "dpcore", "streamlit", "numpy", "pandas", "numba", "uvicorn", "threadpoolctl", "sitecustomize")
TRAP = """\
import sys
with open({mark!r}, "a") as mark:
    mark.write(f"{{__name__}} of the folder ran in {{sys.orig_argv}}\\n")
raise ImportError("a trap")
"""
SETTINGS = """\
[server]
corsAllowedOrigins = ["http://evil.example"]
baseUrlPath = "elsewhere"
allowedHosts = ["*"]
disconnectedSessionTTL = 9999
enableXsrfProtection = false
enableStaticServing = true
[client]
showErrorDetails = "full"
[logger]
level = "debug"
[secrets]
files = ["/etc/passwd"]
"""
ENDS_IT = '[global]\ndevelopmentMode = true\n[theme]\nbase = "none.toml"\n'
SECRETS = 'EPSILON_LAB_VISITORS = "trusted"\n[auth]\ncookie_secret = "known"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of traps: a module for every name of the library and of ours, and what Streamlit would obey."""
    here = tmp_path / "shared"
    here.mkdir()
    for name in (*sys.stdlib_module_names, *OURS):
        (here / f"{name}.py").write_text(TRAP.format(mark=str(tmp_path / "mark")))
    (here / "dashboard.py").unlink()
    (here / "dashboard").mkdir()
    for name in ("__init__", "__main__"):
        (here / "dashboard" / f"{name}.py").write_text(TRAP.format(mark=str(tmp_path / "mark")))
    for one in (here, tmp_path / "home"):
        (one / ".streamlit").mkdir(parents=True)
        (one / ".streamlit" / "config.toml").write_text(SETTINGS + ENDS_IT)
        (one / ".streamlit" / "secrets.toml").write_text(SECRETS)
    return here


def ran(folder: Path) -> str:
    """Which modules of the folder were loaded, by whom."""
    mark = folder.parent / "mark"
    return mark.read_text() if mark.exists() else ""


def call(folder: Path, program: str) -> list[str]:
    """As the script that pip makes does it: its own folder comes first on the path, never the one it is called in."""
    script = folder.parent / "bin" / "epsilon-lab"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"import sys\nsys.path.insert(1, {str(ROOT)!r})\nif __name__ == '__main__':\n{program}\n")
    return [sys.executable, str(script)]


def surroundings(folder: Path) -> dict[str, str]:
    home = folder.parent / "home"
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")}


WORKER = """\
    from multiprocessing.shared_memory import SharedMemory
    from dashboard.background import safe_path
    from dashboard.background.workers import Workers
    {keep}
    shared = SharedMemory(create=True, size=8)
    workers = Workers(1)
    try:
        workers.submit(abs, -1).result(60)
    except Exception:
        sys.exit(3)
    finally:
        shared.close()
        shared.unlink()
        workers.shutdown()
"""
REPLICA = """\
    import os
    from dashboard.serving import replica, replicas
    {keep}
    one = replica.Replica("r1", 70_000, (), {{**os.environ, "PYTHONPATH": replicas._root()}})
    one.start()
    sys.exit(one.process.wait(60) - 2)  # its port is none, so it says so and ends
"""


@pytest.mark.parametrize(
    ("program", "keep", "mutant"),
    [(WORKER, "safe_path.keep()", ""), (REPLICA, "", "replica.PYTHON = (sys.executable,)")],
    ids=["workers", "replicas"],
)
def test_no_module_of_the_folder_is_loaded(folder: Path, program: str, keep: str, mutant: str) -> None:
    """Workers and the process that looks after shared memory, and replicas; without what keeps them safe it is."""
    command = call(folder, program.format(keep=keep))
    done = subprocess.run(command, cwd=folder, env=surroundings(folder), capture_output=True, check=False)
    assert (done.returncode, ran(folder)) == (0, ""), done.stderr.decode()
    command = call(folder, program.format(keep=mutant))
    subprocess.run(command, cwd=folder, env=surroundings(folder), capture_output=True, check=False, timeout=PATIENCE)
    assert "of the folder ran" in ran(folder)


NUMBA = """\
    from dashboard.background import safe_path
    {keep}
    import numba
    print(repr((numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES)))
"""


def test_numba_takes_nothing_compiled_from_there(folder: Path) -> None:
    """With PyYAML, which a cluster brings, it reads where compiled code lies from the folder that it is called in."""
    (folder / ".numba_config.yaml").write_text(f"cache_dir: {folder}\ncache_locator_classes: InTreeCacheLocator\n")
    told = [
        subprocess.run(
            call(folder, NUMBA.format(keep=keep)), cwd=folder, env=surroundings(folder), capture_output=True, check=True
        ).stdout
        for keep in ("safe_path.keep()", "")
    ]
    assert told[0] == b"('', '')\n"
    assert str(folder) in told[1].decode(), "else this would show nothing"


COMPILED = """\
    {first}
    from dpcore.compiled import _numba, compiled
    {mutant}
    found = compiled(lambda number: number + 1)
    found(1)
    print(type(found).__name__, _numba.config.DISABLE_JIT, _numba.config.DEBUG)
"""


@pytest.mark.parametrize("first", ["", "import numba"], ids=["first", "after another library"])
def test_nor_any_setting_of_how_it_compiles(folder: Path, first: str) -> None:
    """Whoever may write there would have had all of it run as plain Python, a hundred times slower."""
    pytest.importorskip("yaml")
    (folder / ".numba_config.yaml").write_text("disable_jit: 1\ndebug: 1\n")

    def told(mutant: str) -> str:
        command = call(folder, COMPILED.format(first=first, mutant=mutant))
        done = subprocess.run(command, cwd=folder, env=surroundings(folder), capture_output=True, text=True, check=True)
        assert mutant or "pyyaml" not in done.stderr, "nor is anybody told to install what would read it"
        return done.stdout.splitlines()[-1]

    assert told("") == "CPUDispatcher 0 0"
    reads_it = "_numba.config._config_fname, _numba.config._HAVE_YAML = '.numba_config.yaml', True"
    again = "import yaml; _numba.config.yaml = yaml; _numba.config.reload_config()"
    assert told(f"{reads_it}; {again}") == "function 1 1", "else this would show nothing"


CHOSEN = """\
    import json
    from dashboard import __main__ as command_line
    from dashboard.serving import own_settings
    {alone}
    from streamlit import config
    from streamlit.web import bootstrap
    bootstrap.load_config_options(command_line.options(8600, "127.0.0.1"))
    found = config.get_config_options().items()
    print(json.dumps({{name: str(one.value) for name, one in found if not one.sensitive}}))
    print(json.dumps(config.get_config_files("config.toml")))
"""


def chosen(folder: Path, alone: str) -> tuple[dict[str, Any], list[str]]:
    done = subprocess.run(
        call(folder, CHOSEN.format(alone=alone)), cwd=folder, env=surroundings(folder), capture_output=True, check=True
    )
    options, watched = done.stdout.decode().splitlines()
    return json.loads(options), json.loads(watched)


def test_no_file_there_sets_anything(folder: Path) -> None:
    """Nor later: Streamlit would watch these files, and obey them while it runs."""
    found, watched = chosen(folder, "own_settings.alone()")
    assert watched == []
    for place in (folder, folder.parent / "home"):
        (place / ".streamlit" / "config.toml").unlink()
    assert found == chosen(folder, "")[0]
    assert (found["server.corsAllowedOrigins"], found["server.baseUrlPath"]) == ("[]", "")
    assert found["secrets.files"] == "[]"


def test_the_check_notices_a_file_that_does(folder: Path) -> None:
    for place in (folder, folder.parent / "home"):
        (place / ".streamlit" / "config.toml").write_text(SETTINGS)
    found, watched = chosen(folder, "")
    assert found["logger.level"] == "debug"
    assert str(folder / ".streamlit" / "config.toml") in watched


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("replicas", "end"),
    [((), signal.SIGTERM), (("--replicas", "1"), signal.SIGTERM), (("--replicas", "1"), signal.SIGHUP)],
    ids=["one", "replicas", "replicas whose terminal is closed"],
)
def test_a_server_that_is_started_there_is_the_same(
    folder: Path, replicas: tuple[str, ...], end: signal.Signals
) -> None:
    """With its workers, which begin when it listens; told to end, it leaves nobody behind."""
    main = "    from dashboard.__main__ import main\n    sys.exit(main())"
    port, log = free_port(), folder.parent / "log"
    command = [*call(folder, main), "serve", "--port", str(port), *replicas]
    with log.open("w") as opened:
        server = subprocess.Popen(command, cwd=folder, env=surroundings(folder), stdout=opened, stderr=opened)
    try:
        until = time.monotonic() + PATIENCE
        while _status(port, "/_stcore/health") != 200:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        asyncio.run(_visit(f"http://127.0.0.1:{port}"))
        assert _websocket(port, "http://evil.example") == 403
        assert _websocket(port, f"http://127.0.0.1:{port}") == 101
    finally:
        server.send_signal(end)
        server.wait(PATIENCE)
    assert _status(port, "/_stcore/health") == 0, "what was left would have the port"
    assert ran(folder) == ""
    assert "Traceback" not in log.read_text()


def _status(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


async def _visit(address: str) -> None:
    """A page that is drawn; behind it workers are started."""
    person = Person(address, "")
    await person.arrive()
    await person.leave()


def _websocket(port: int, origin: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Origin": origin, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    connection.request("GET", "/_stcore/stream", headers=headers | {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})
    status = connection.getresponse().status
    connection.close()
    return status
