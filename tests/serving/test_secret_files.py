"""Whoever runs a server hears of a file with secrets that others can read."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from dpcore import secret_files
from dpcore.datasets.in_place import configured_sources


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
