"""Whoever runs a server hears of a file with secrets that others can read."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from dpcore import secret_files
from dpcore.datasets.in_place import configured_sources
from dpcore.ledger import Ledger
from dpcore.ledger.__main__ import main


def test_a_file_that_others_can_read_is_named_once_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret_files._warn.cache_clear()
    file = tmp_path / "sources.toml"
    file.touch(mode=0o600)
    with caplog.at_level(logging.WARNING):
        configured_sources(file)
        assert not caplog.messages
        file.chmod(0o640)
        configured_sources(file)
        configured_sources(file)
    assert caplog.messages == [
        "other users of this computer can read the file that EPSILON_LAB_SOURCES names: chmod 600"
    ]
    assert str(tmp_path) not in caplog.text


def test_a_key_file_that_others_can_read_is_named_and_stays_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is copied to each server by hand; whoever reads it can seal any report and test guesses."""
    secret_files._warn.cache_clear()
    file, ledger = tmp_path / "ledger.key", f"sqlite:///{tmp_path / 'ledger.db'}"
    monkeypatch.setenv("EPSILON_LAB_KEY", str(file))
    with caplog.at_level(logging.WARNING):
        Ledger.open(ledger).close()
        main(["--ledger", ledger, "status"])
        assert not caplog.messages
        file.chmod(0o644)
        main(["--ledger", ledger, "status"])
        Ledger.open(ledger).close()
    assert caplog.messages == ["other users of this computer can read the ledger's key file: chmod 600"]
    assert str(tmp_path) not in caplog.text
    assert file.stat().st_mode & 0o777 == 0o644, "a container's secrets are often mounted so"
