"""What tests of a server's own answers have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit import config


@pytest.fixture
def names() -> Iterator[None]:
    """The server is reached by these names alone."""
    before = config.get_option("server.allowedHosts")
    config.set_option("server.allowedHosts", ["localhost", "127.0.0.1"])
    yield
    config.set_option("server.allowedHosts", before)
