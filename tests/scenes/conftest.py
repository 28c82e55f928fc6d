"""The app in process, as the tests of pages open it, with workers that never come to their work."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

import pytest

from dashboard.background import compute
from dashboard.background.in_turn import InTurn
from tests.dashboard.conftest import ledger_file, one_visitor, open_app, workers

__all__ = ["ledger_file", "one_visitor", "open_app", "workers"]


class Idle(Executor):
    """Takes work and does none of it: a page that waits for models is opened, and nothing is trained."""

    turns = property(InTurn)

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        return Future()


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "pool", Idle)
