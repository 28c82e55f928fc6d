"""A released model in words, for whoever gets the file: from public and released numbers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.datasets.text import named_markdown, plain_markdown, plain_sentence
from dpcore.validate import FloatArray
from dpcore.written import CHANCE, TINY, exact, hundredths

if TYPE_CHECKING:
    from dpcore.training.model import LinearModel
    from dpcore.training.pairs import Pair

_MOST = 10
_ON_RECEIPT = "What was declared, and what was taken over from the file, is on its receipt."


def model_card(model: LinearModel) -> str:
    """What a released model does, what it cost, what decides most and what to beware of, in Markdown."""
    features, about = model.features, model.about
    target, aim = features.target, named_markdown(features.target.name)
    if features.apart:
        listed = ", ".join(f"“{named_markdown(name)}”" for name in features.classes)
        task = f"Tells the classes of the column “{aim}” apart: {listed}."
    elif features.two_classes:
        other, positive = (named_markdown(name) for name in features.classes)
        task = f"Tells “{positive}” from “{other}” in the column “{aim}”."
    else:
        task = f"Predicts the number “{aim}”, from {exact(target.low)} to {exact(target.high)}."
    names = ", ".join(named_markdown(column.name) for column in features.columns)
    rows = int(about.get("rows_per_person", 1))
    each = "with one row" if rows == 1 else f"with at most {rows:,} rows"
    hidden = "replacing" if about.get("neighbours") == "replace_one" else "adding or removing"
    known = "as was stated" if about.get("people_from") == "stated" else "a noisy count"
    spread = column_spread(model)
    order = sorted(spread, key=lambda name: -spread[name])[:_MOST]
    cut = [named_markdown(column.name) for column in features.columns if column.levels]
    whose = "bought" if "cuts_share" in about else "declared"
    together = ", ".join(named_markdown(_named(pair)) for pair in features.pairs)
    lines = [
        "# Model card",
        "",
        task,
        f"It adds up what each of {len(features.columns)} columns says: {names}.",
        *((f"These act together besides: {together}.",) if together else ()),
        "",
        "## Privacy",
        f"({_number(about.get('epsilon'))}, {_number(about.get('delta'), small=CHANCE)})-differential privacy for "
        f"{hidden} {_whom(about)} {each}, for everything in this model together; every other answer about the same "
        f"rows adds to it. Trained by {_method(about.get('method'))}.",
        *_what_was_declared(about),
        *(plain_sentence(str(note)) for note in about.get("notes", ())),
        *_what_was_bought(about),
        "",
        "## What decides most",
        "How far apart the smallest and the largest that a column can add are (with the noise in it, so small ones "
        "mean little):",
        *(f"- {named_markdown(name)}: {spread[name]:.3g}" for name in order),
        "",
        "## Use",
        f"Trained on about {int(about.get('people', 0)):,} rows ({known}). How good it is was not measured: measuring "
        "on the training data would cost privacy; use data that it was not trained on.",
        "Values beyond the declared bounds count as the bound.",
        *(
            [f"Cut into steps at {whose} numbers: {', '.join(cut)}; what is missing there is in no step."]
            if cut
            else []
        ),
        "What few people have carries mostly noise. "
        + ("No other two columns" if together else "Columns act one by one: no two of them")
        + " act together.",
    ]
    return "\n".join(lines) + "\n"


def column_spread(model: LinearModel) -> dict[str, float]:
    """By column and pair, the largest less the smallest that it adds to the margin of a row where it is not missing."""
    found, start = {}, 0
    for column in model.features.columns:
        own = model.weights[start : start + column.width] / model.features.scale
        start += column.width
        if column.levels:
            steps = np.array([column.low, *column.edges])
            found[column.name] = _range(column.spread(column.scaled(steps)) @ own)
        elif column.categories:
            found[column.name] = _range(own)
        else:
            found[column.name] = 2.0 * float(np.abs(own[0]).max())
    for pair in model.features.pairs:
        own = model.weights[start : start + pair.cells] / model.features.scale
        start += pair.cells
        found[_named(pair)] = _range(own)
    return found


def _range(points: FloatArray) -> float:
    """How far apart points are, of the class for which they are furthest."""
    return float((points.max(axis=0) - points.min(axis=0)).max())


def _whom(about: Mapping[str, Any]) -> str:
    """Whom the model hides. Models from before do not say it, so neither does their card."""
    return f"one {plain_markdown(str(about['unit']))}" if "unit" in about else "the unit that its receipt names"


def _what_was_declared(about: Mapping[str, Any]) -> tuple[str, ...]:
    """What did not come out of the data, and nothing that did: its notes say of that what the receipt says."""
    share = about.get("cuts_share")
    if "notes" not in about:
        said = [_ON_RECEIPT]
    else:
        parts = [
            *(() if about.get("named_by_rows") else ("column names",)),
            "bounds",
            "other options" if about.get("words_from_file") else "options",
            *(() if isinstance(share, float) else ("cuts",)),
        ]
        listed = f"{', '.join(parts[:-1])} and {parts[-1]}"
        said = [f"{listed[:1].upper()}{listed[1:]} were declared, not read from the data."]
    if isinstance(share, float):
        said.append(
            f"Where numbers and dates are cut was bought: {hundredths(share)} in 100 of the privacy went to noisy "
            "quantiles."
        )
    return (" ".join(said),)


def _what_was_bought(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Sentences on pairs and on the way that were chosen privately."""
    found = []
    if isinstance(many := about.get("pairs_bought"), int) and many:
        share = float(about.get("pairs_share", 0.0))
        what = "One pair of columns that acts" if many == 1 else f"{many} pairs of columns that act"
        found.append(
            f"{what} together {'was' if many == 1 else 'were'} bought: {hundredths(share)} in 100 of the privacy."
        )
    if "way" in about:
        others = ", ".join(str(way) for way in about.get("ways", ()))
        share = float(about.get("ways_share", 0.0))
        found.append(
            f"The way it is built ({about['way']}) was chosen privately among {others}, by trials on the rows: "
            f"{hundredths(share)} in 100 of the privacy."
        )
    return tuple(found)


def _named(pair: Pair) -> str:
    return " with ".join(pair.names)


def _number(value: object, *, small: float = TINY) -> str:
    return exact(value, small=small) if isinstance(value, float | int) else "unknown"


def _method(name: object) -> str:
    text = str(name or "a private method")
    return text[:1].lower() + text[1:]
