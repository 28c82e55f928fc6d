"""Every theorem of the engine in one place, by key; ``docs/theory.md`` lists them."""

from __future__ import annotations

from dpcore.theorem import Theorem


def theorems() -> dict[str, Theorem]:
    """All theorems: about choosing, watching, following experts, and training. Keys are unique."""
    from dpcore.experts.theory import theorems as following
    from dpcore.selection.theory import theorems as choosing
    from dpcore.thresholding.theory import theorems as watching
    from dpcore.training.theory import theorems as training

    found: dict[str, Theorem] = {}
    for part in (choosing(), watching(), following(), training()):
        for key, theorem in part.items():
            if key in found:
                raise RuntimeError(f"two theorems have the key {key!r}")
            found[key] = theorem
    return found
