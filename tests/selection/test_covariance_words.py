"""The covariance of rules is worked out of words as they are: NumPy's own each take what the longest does."""

from __future__ import annotations

import tracemalloc

import numpy as np

from dpcore.selection.rules import Categories, RuleClass


def test_one_long_word_takes_its_own_room_alone() -> None:
    """One cell of a thousand letters among a million ended a server."""
    n, long = 20_000, "x" * 1000
    words = ["a", "b"] * (n // 2 - 1) + [long, "a"]
    rules = RuleClass(columns=(Categories(column="c", values=("a", "b", long)),))
    target = np.arange(n) % 3 == 0
    tracemalloc.start()
    try:
        found = rules.covariance({"c": words}, target)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 40 << 20 < 4 * 1000 * n
    mistakes = np.stack([rules.predict(rule, {"c": words}, n) != target for rule in rules.rules]).astype(float)
    np.testing.assert_allclose(found, np.cov(mistakes, bias=True), atol=1e-6)
