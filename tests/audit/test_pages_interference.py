"""Non-interference of the pages in short: what is offered of a release is the same on neighbouring files.

``python -m benchmarks.audit`` does the same on more neighbours and with other choices.
"""

from __future__ import annotations

import pytest

from benchmarks.audit.pages import PAGE_HOLES, check_page, kinds


@pytest.mark.parametrize("name", kinds())
def test_what_a_page_offers_is_the_same_on_neighbouring_files(name: str) -> None:
    verdict = check_page(name, most=0, every=60, settings=0)
    assert verdict.good, verdict
    assert verdict.pairs >= 10


@pytest.mark.parametrize("hole", PAGE_HOLES, ids=lambda hole: hole.name)
def test_every_hole_of_the_pages_is_found_again(hole) -> None:
    assert not hole.dug().good
