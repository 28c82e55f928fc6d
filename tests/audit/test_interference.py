"""Non-interference in short: neighbouring files change nothing before the answer, and its law by no more than claimed.

``make audit`` does the same on more neighbours and on bytes alone.
"""

from __future__ import annotations

import pytest

from dpcore.audit.files import QUESTIONS, question
from dpcore.audit.holes import HOLES
from dpcore.audit.interference import check
from dpcore.releases import catalog


@pytest.mark.parametrize("name", [found.name for found in QUESTIONS])
def test_a_neighbouring_file_changes_the_law_alone_and_by_no_more_than_claimed(name: str) -> None:
    verdict = check(question(name), most=6, from_bytes=0, every=5)
    assert verdict.good, verdict
    assert verdict.pairs >= 2


@pytest.mark.parametrize(
    "name",
    ["most common, two rows by who", "model, a row added", "losses, doubling", "alarm over revenue, exponential"],
)
def test_from_the_bytes_of_the_file(name: str) -> None:
    verdict = check(question(name), most=4, from_bytes=6, every=4)
    assert verdict.good, verdict


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)
def test_every_hole_that_once_was_is_found_again(hole) -> None:
    assert not hole.dug().good


def test_every_kind_of_release_is_asked_about_files() -> None:
    kinds = {found.ask(found.declaration, found.file(found.tables[0], from_bytes=False)).key for found in QUESTIONS}
    assert kinds == set(catalog())


def test_most_promises_are_used_up() -> None:
    """Where neighbours come near the claim the check has teeth: one question of each kind uses 0.9 of it or more."""
    for name in ("most common, a row added", "alarm over net votes, exponential", "best cases", "losses, doubling"):
        assert check(question(name), most=0, from_bytes=0).used > 0.9, name
