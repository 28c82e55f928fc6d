"""A source in PostgreSQL as a program that begins finds it: nothing is known of where its tables are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpcore.datasets.in_place import database


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """In a test that imports this; none is left for the next."""
    forget()
    yield
    forget()


def forget() -> None:
    database._engine.cache_clear()
    database._schema.cache_clear()
