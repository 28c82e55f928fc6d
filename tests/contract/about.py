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
    assert about.name[0].isupper(), "name begins with a capital"
    assert 2 <= len(about.plain.split()) <= 11, "plain is said in 2 to 11 words"
    assert not about.plain.endswith("."), "plain ends without a full stop"
    assert not TERMS.search(about.plain), "plain has everyday words only"
    assert about.how.endswith("."), "how ends with a full stop"
    assert 40 <= len(about.how) <= 500, "how has 40 to 500 letters"
    assert about.source.endswith("."), "source ends with a full stop"
    others = [other.about for key, other in catalogue.items() if key != kind.key]
    assert about.name not in {other.name for other in others}, "another has this name"
    assert about.plain not in {other.plain for other in others}, "another is said in these words"
    if about.release is not None:
        assert about.release in RULES, f"release is one of {sorted(RULES)}"
    elif any(other.release for other in others):
        known = sorted(key for key, other in catalogue.items() if other.about.release)
        assert about.nearest in known, f"without a release, nearest is one of {known}"
    assert [other.about.textbook for other in catalogue.values()].count(True) == 1
