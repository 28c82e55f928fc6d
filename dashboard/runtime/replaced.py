"""Methods in whose place ours stand while the server runs, by what has them and how they are called.

Several modules may stand in one place: each goes on to the one that was put there before, and the first to Streamlit's.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

Place = tuple[Any, str]
Methods = dict[Place, Any]

_STANDING: dict[Place, list[tuple[Any, Methods]]] = {}
"""What stands in each place where ours do, Streamlit's first; each with where it looks up what it goes on to."""


def there(ours: Methods) -> Methods:
    """What stands there now."""
    return {(owner, name): vars(owner)[name] for owner, name in ours}


def put(ours: Methods, before: Methods) -> None:
    """From now on, in this process; ``before`` is told what each goes on to. Again does nothing."""
    for place, stood in there(ours).items():
        standing = _STANDING.get(place, [(stood, {})])
        if all(method is not ours[place] for method, _ in standing):
            _stand(place, [*standing, (ours[place], before)])


def put_back(ours: Methods) -> None:
    """As if they had never been put there, whoever else was since. Again does nothing."""
    for place, method in ours.items():
        if place in _STANDING:
            _stand(place, [one for one in _STANDING[place] if one[0] is not method])


def _stand(place: Place, standing: list[tuple[Any, Methods]]) -> None:
    for (under, _), (_, before) in pairwise(standing):
        before[place] = under
    owner, name = place
    setattr(owner, name, standing[-1][0])
    _STANDING[place] = standing
    if len(standing) == 1:
        del _STANDING[place]
