"""Python that makes the losses of a picture again, from a sample or a simulated story, which everybody has."""

from __future__ import annotations

from dashboard.case import Case
from dashboard.questions.experts.followed import PRICE_MOVE, Followed


def losses_code(case: Case, whom: Followed, rounds: int) -> str:
    """Lines that make ``losses``; none for a person's own data."""
    made, reading = whom.scenario, whom.reading
    if made is not None:
        return (
            "from dpcore.experts import Scenario\n\n"
            f"story = Scenario(\n    story={made.story!r}, experts={made.experts}, gap={made.gap!r}, "
            f"period={made.period}, seed={made.seed}\n)\n"
            f"losses = story.losses({rounds})\n"
        )
    if reading is None or not case.source.public:
        return ""
    low, high = reading.bounds(case.table.schema)
    happened = "None"
    if reading.outcome is not None:
        asked = case.table.schema.column(reading.outcome).type == "yes/no"
        happened = f"table.codes({reading.outcome!r})" if asked else f"table.frame[{reading.outcome!r}]"
        happened = f"np.asarray({happened}, dtype=float)"
    return (
        "import numpy as np\n"
        "from dpcore.datasets import load_sample\n"
        "from dpcore.releases.plays import losses_of\n\n"
        f"table = load_sample({case.source.key!r})\n"
        f"values = table.frame[{list(reading.columns)!r}].to_numpy(float, na_value=np.nan)\n"
        f"happened = {happened}\n"
        f"losses = losses_of(values, {reading.kind!r}, low={low!r}, high={high!r}, move={PRICE_MOVE!r}, "
        "happened=happened)\n"
    )
