"""Change one person: the noisy gradient sums of descent in two worlds, and without clipping."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from dashboard.blocks import Ask, Block, Picture, Small, Text
from dashboard.charts.worlds import place_worlds
from dashboard.controls import Choice, Control, Read
from dashboard.questions.training.curves import Asked
from dashboard.words import change_one as said
from dpcore.training import NoisyGradientDescent, SumWorlds
from dpcore.training.losses import linear
from dpcore.training.plan import RADIUS

POINTS, TAILS = 241, 4.5
SHARES = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0)
"""Steps that are taken, as parts of those that the noise was made for."""


def blocks(read: Read, view: Control[str], asked: Asked, method: NoisyGradientDescent) -> Sequence[Block]:
    """What the sums of some steps tell of one person, whom clipping limits, and of one whom nothing limits."""
    clip = method.sensitivity
    many = Choice(
        key="training_one_person_steps",
        label=said.STEPS_TAKEN,
        options=tuple(max(1, round(share * method.steps)) for share in SHARES),
        names=partial(said.steps_taken, method.steps),
        default=method.steps,
        look="scale",
    )
    steps = read(many, "tab")
    free = linear(method.loss).lipschitz(RADIUS) / clip
    worlds = SumWorlds(noise_multiplier=method.noise_multiplier, steps=steps)
    unclipped = SumWorlds(noise_multiplier=method.noise_multiplier, steps=steps, moved=free)
    reach = TAILS * worlds.deviation
    places = np.linspace(-reach, 1.0 + reach, POINTS)
    kept, broken = worlds.at(places, asked.epsilon), unclipped.at(places, asked.epsilon)
    spent, lost = worlds.delta(asked.epsilon), unclipped.delta(asked.epsilon)
    told = said.sums_told(steps, asked.epsilon, asked.delta, spent)
    return [
        Ask((view,)),
        Ask((many,)),
        Text(f"{said.sums_look(told, kept.realised > asked.epsilon)} {said.sums_free(free, lost)}"),
        Picture(
            key="training-inside-one-person",
            figure=lambda dark: place_worlds(
                places,
                kept.before,
                kept.after,
                {"kept": kept.log_ratio, "broken": broken.log_ratio},
                asked.epsilon,
                said.sum_words(asked.epsilon),
                x_title=said.SUM_AXIS,
                dark=dark,
            ),
            alt=said.sums_alt(worlds.deviation, told, said.sums_free(free, lost)),
            data=lambda: pd.DataFrame(
                {
                    "sum": places,
                    "without": kept.before,
                    "with": kept.after,
                    "log ratio": kept.log_ratio,
                    "log ratio without clipping": broken.log_ratio,
                }
            ),
            code=said.code_sums(method.epsilon, method.delta, method.steps, steps, (places[0], places[-1])),
        ),
        Small(said.sums_note(clip, steps)),
    ]
