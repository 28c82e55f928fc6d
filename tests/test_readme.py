"""README is true: its Python runs as written, the commands it names exist, and the configuration is as promised."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_the_python_of_the_readme_runs_as_written(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    assert blocks, "README shows no Python"
    for number, block in enumerate(blocks):
        file = tmp_path / f"block_{number}.py"
        file.write_text(block, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(file)],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`make ([a-z]+)`|^make ([a-z]+)", README, flags=re.M))))
def test_every_make_target_of_the_readme_exists(name: tuple[str, str]) -> None:
    target = name[0] or name[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M), target


@pytest.mark.parametrize("path", re.findall(r"\]\(((?!http)[^)#]+)\)", README))
def test_every_file_the_readme_links_is_there(path: str) -> None:
    assert (ROOT / path).exists(), path


def test_every_test_that_is_named_as_holding_a_promise_is_there() -> None:
    text = (ROOT / "docs" / "integrity.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) >= 60
    missing = [
        name for file, name in named if not re.search(rf"def {name}\(", (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert not missing


def test_the_server_is_hardened() -> None:
    """The settings that reliability and privacy rest on; a changed default of Streamlit must not undo them."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["client"] == {"showErrorDetails": "none", "showErrorLinks": False, "toolbarMode": "minimal"}
    assert config["runner"]["postScriptGC"] is False
    assert config["logger"]["enableRich"] is False
    server = config["server"]
    assert server["enableXsrfProtection"] is True
    assert server["enableCORS"] is True
    assert server["enableStaticServing"] is False
    assert server["enableAgentApi"] is False
    assert server["fileWatcherType"] == "none"
    assert server["maxUploadSize"] <= 200
    assert server["maxMessageSize"] <= 40
    assert server["allowedHosts"]
    assert config["browser"]["gatherUsageStats"] is False


def test_the_lock_is_exact_and_names_no_registry() -> None:
    for name in ("requirements.txt", "tests/requirements.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        assert "index" not in text
        pinned = [line for line in text.splitlines() if re.match(r"^[A-Za-z0-9]", line)]
        assert pinned
        assert all("==" in line for line in pinned), name


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {re.split(r"[\[<>=]", name)[0].lower() for name in project["project"]["dependencies"]}
    locked = set(
        re.findall(r"^([A-Za-z0-9_.-]+)==", (ROOT / "requirements.txt").read_text(encoding="utf-8"), flags=re.M)
    )
    assert wanted <= {name.lower() for name in locked}
