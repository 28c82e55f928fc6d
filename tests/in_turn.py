"""Which worker runs which tests: those of a file by one, and all that drive Chromium by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer

BROWSER = "tests/browser/"


class InTurn(LoadFileScheduling):  # type: ignore[misc]
    """A second worker that drives Chromium starts another browser and another server, and both compile every page."""

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER if nodeid.startswith(BROWSER) else str(super()._split_scope(nodeid))


def scheduler(config: pytest.Config, log: Producer) -> InTurn | None:
    """For ``--dist loadfile``; another way of handing tests out is left as it is."""
    return InTurn(config, log) if config.getvalue("dist") == "loadfile" else None
