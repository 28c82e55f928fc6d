"""Private folders where a system has no locks of the kind that others have."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from dpcore.datasets import temporary


def test_folders_work_without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows, importing it fails
    found = importlib.util.spec_from_file_location("temporary_without_locks", temporary.__file__)
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    with made.private_folder() as folder:
        file = made.private_file(folder, b"a,b\n")
        assert file.read_bytes() == b"a,b\n"
        assert made.sweep() == 0
    assert not folder.exists()
