"""What the tests of reading files share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpcore.datasets.reading.engine import together


@pytest.fixture(scope="module")
def one_connection() -> Iterator[None]:
    """One closed-off connection for a file of tests that read many small tables, as for one table on a page."""
    with together():
        yield
