"""What every entry of every catalogue must say about itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from dpcore import releases
from dpcore.about import About
from dpcore.releases.draws import Rule
from dpcore.releases.plays import WAYS

RULES = {*get_args(Rule), *WAYS, *releases.catalog()}
TERMS = re.compile(
    r"ε|δ|ρ|η|laplace|gumbel|gaussian|exponential|sparse|vector|mechanism|hedge|perturb|regret|DP\b", re.I
)


def check_about(kind: Any, catalogue: Mapping[str, Any]) -> None:
    """``kind`` says all that pages need, its release exists, and where it has none it names one that has."""
    assert catalogue[kind.key] is kind
    assert not hasattr(kind, "label")
    about = vars(kind)["about"]
    assert isinstance(about, About)
    assert about.name[0].isupper()
    assert 2 <= len(about.plain.split()) <= 11
    assert not about.plain.endswith(".")
    assert not TERMS.search(about.plain), "plain words only"
    assert about.how.endswith(".")
    assert 40 <= len(about.how) <= 500
    assert about.source.endswith(".")
    others = [other.about for key, other in catalogue.items() if key != kind.key]
    assert about.name not in {other.name for other in others}
    assert about.plain not in {other.plain for other in others}
    if about.release is not None:
        assert about.release in RULES
    elif any(other.release for other in others):
        assert about.nearest is not None
        assert catalogue[about.nearest].about.release is not None
    assert [other.about.textbook for other in catalogue.values()].count(True) == 1
