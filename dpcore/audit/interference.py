"""From a file to an answer: what neighbouring files change, and by how much.

Everything up to the answer must be the same to the byte: whether a question is refused and in which words, the request,
its digest, cost, sentences, rules and error bounds. The answer's exact law on the two files must stay within the
claim. Laws are compared as what is used of the claim: 1 is all of it. For one draw that is the largest log-ratio over
ε; for several, its sum over the draws that differ; for plays at a bounded range, the largest range over what each may
have; for sums under Gaussian noise, the distance over the sensitivity.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from dpcore.audit.choosing import drawn_apart, pair_scores, public_codes, way_scores
from dpcore.audit.declared import redeclared
from dpcore.audit.files import Ask, File, Question
from dpcore.errors import DpcoreError
from dpcore.release import question_digest, sentence
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.chosen_model import ChosenModel
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.count import NoisyCount
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.releases.model import PrivateModel
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.plays import PrivatePlays
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.steps_model import StepsModel
from dpcore.releases.whole_codes import clip_units, scale_units
from dpcore.validate import FloatArray

SLACK = 1e-9
SEED = 20
_WEIGHTS = 3  # public points at which gradient sums are compared


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What was found for one question: ``used`` of the claim, over how many ``pairs``, and ``trouble`` in sentences."""

    name: str
    used: float
    pairs: int
    trouble: tuple[str, ...]

    @property
    def good(self) -> bool:
        return not self.trouble


def check(
    question: Question, *, most: int, from_bytes: int, ask: Ask | None = None, answers: int = 1, every: int = 1
) -> Verdict:
    """Ask the question on ``most`` generated neighbours of each table and on the worst ones; ``every`` so manieth.

    The first ``from_bytes`` of them as bytes of CSV; ``answers`` of them are drawn too, which must not fail. ``ask``
    asks in another way than the question's own: a mutant, which is looked at until it is caught.
    """
    rng = np.random.Generator(np.random.PCG64(SEED))
    asked = ask or question.ask
    used, pairs, trouble = 0.0, 0, set[str]()
    for here, there in islice(question.neighbours(rng, most), 0, None, every):
        if ask is not None and trouble:
            break
        try:
            files = [question.file(rows, from_bytes=pairs < from_bytes) for rows in (here, there)]
        except DpcoreError as error:
            trouble.add(f"no file: {type(error).__name__}")
            continue
        requests, words = zip(*(_asked(question, asked, file) for file in files), strict=True)
        pairs += 1
        if words[0] != words[1]:
            trouble.add("what is public differs")
            continue
        if requests[0] is None:
            if question.any_declaration:
                continue
            trouble.add(f"refused: {words[0]}")
            continue
        try:
            found = [requests[0].read(file.private) for file in files]
            if pairs <= answers:
                requests[0].draw(found[0])
        except (DpcoreError, ValueError, TypeError, ArithmeticError, LookupError) as error:
            trouble.add(f"no answer: {type(error).__name__}")
            continue
        share = spent(requests[0], *found)
        used = max(used, share)
        if share > 1.0 + SLACK:
            trouble.add("more than the claim")
    return Verdict(name=question.name, used=used, pairs=pairs, trouble=tuple(sorted(trouble)))


def check_declared(question: Question, *, draws: int, most: int = 2, every: int = 3) -> Verdict:
    """``check`` with what is declared of the columns drawn ``draws`` times, also at its extremes."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    found = [check(redeclared(question, rng), most=most, from_bytes=0, every=every) for _ in range(draws)]
    return both(*found)


def both(*verdicts: Verdict) -> Verdict:
    """What was found in several ways of one question."""
    return Verdict(
        name=verdicts[0].name,
        used=max(one.used for one in verdicts),
        pairs=sum(one.pairs for one in verdicts),
        trouble=tuple(sorted({words for one in verdicts for words in one.trouble})),
    )


def _asked(question: Question, ask: Ask, file: File) -> tuple[Any, str]:
    """The request and all that is public about it as text; no request where it is refused."""
    try:
        request = ask(question.declaration, file)
        return request, public(request)
    except (DpcoreError, ValueError) as error:
        return None, f"{type(error).__name__}: {error}"


def public(request: Any) -> str:
    """All that is shown, stored or charged before the answer."""
    about = (request.mechanism, request.neighbours, request.cost, request.rules, request.notes, request.unit)
    bounds = [request.error_bound(beta) for beta in (0.05, 0.5)]
    return repr((question_digest(request), sentence(request), about, bounds, request))


def spent(request: Any, here: Any, there: Any) -> float:
    """The part of the claim that the law of the answer to what was read uses on these two, exactly."""
    if isinstance(request, PrivateModel):
        return _spent_on_sums(request, here, there)
    if isinstance(request, BoughtModel):
        return _spent_on_cuts(request, here, there)
    if isinstance(request, ChosenModel):
        return _spent_on_ways(request, here, there)
    if isinstance(request, PairedModel):
        return _spent_on_pairs(request, here, there)
    if isinstance(request, ScaledModel):
        return _spent_on_steps(request, here, there)
    if isinstance(request, NoisyCount):
        return abs(float(here) - float(there)) / request.rows_per_person
    if isinstance(request, GaussianConfusion):
        return float(np.linalg.norm(here - there)) / request.sensitivity
    first, second = (np.log(np.maximum(request.law_of(found), 1e-300)) for found in (here, there))
    if isinstance(request, PrivatePlays) and request.way == "batched":
        return float(np.ptp(first - second, axis=1).max()) / (2 * request.rate)
    if isinstance(request, (PrivatePlays, ModelConfusion)):
        return _both_ways(first, second, axis=1) / request.epsilon
    if isinstance(request, AlarmRun):
        # smaller chances are not exact to a part in a million; with both raised to this the ratio can only shrink
        first, second = np.maximum(first, np.log(1e-12)), np.maximum(second, np.log(1e-12))
        return float(np.abs(first - second).max()) / request.epsilon * (1 - 1e-6)
    return _both_ways(first, second, axis=0) / float(request.epsilon)


def _both_ways(first: FloatArray, second: FloatArray, axis: int) -> float:
    """The largest log-ratio of independent draws: of the worst outcome of each, added up, one way or the other."""
    ratio = first - second
    return float(max(ratio.max(axis=axis).sum(), (-ratio).max(axis=axis).sum()))


def _spent_on_sums(request: PrivateModel, here: Any, there: Any) -> float:
    rng = np.random.Generator(np.random.PCG64(SEED))
    d = request.features.d
    points = [np.zeros(d), *(rng.standard_normal((_WEIGHTS - 1, d)) * [[1.0], [100.0]])]
    moved = [np.linalg.norm((here.sums(at) - there.sums(at)).astype(np.float64)) for at in points]
    counted = abs(here.rows - there.rows) / request.count_sensitivity if request.people is None else 0.0
    return float(max(max(moved) / request.sensitivity, counted))


def _spent_on_cuts(request: BoughtModel, here: Any, there: Any) -> float:
    """The largest part of what each of its Gaussian releases may move: trees, and all else at cuts that came of them.

    The cuts are those of noise alone, as a release of no rows could draw them.
    """
    trees = zip(request.bought, here.trees(), there.trees(), strict=True)
    moved = [
        float(np.linalg.norm((first - second).astype(np.float64))) / request.tree_sensitivity(column)
        for column, first, second in trees
    ]
    return max(*moved, _spent_on_steps(request, public_codes(request, here), public_codes(request, there)))


def _spent_on_pairs(request: PairedModel, here: Any, there: Any) -> float:
    """The largest part of what each release may move: the first model's, the squares, the draws, the model's own."""
    moved = [_spent_on_steps(request, here.singles, there.singles)]
    for seed in range(_WEIGHTS):
        (first, squares), (second, others) = (pair_scores(request, found, seed) for found in (here, there))
        moved.append(abs(squares - others) / request.squares_sensitivity)
        moved.append(drawn_apart(request.choice, first, second))
    chosen = [public_codes(request, found) for found in (here, there)]
    return max(*moved, _spent_on_steps(request, *chosen))


def _spent_on_ways(request: ChosenModel, here: Any, there: Any) -> float:
    """The largest part of what each release may move: every trial's and the draw; and of ρ, all of them together.

    The model that is published reads and adds up what its trial does.
    """
    moved = [request.spent / request.rho]
    moved += [spent(trial, here.by_way[way], there.by_way[way]) for way, trial in request.trials.items()]
    for seed in range(2 * _WEIGHTS):
        moved.append(drawn_apart(request.choice, *(way_scores(request, found, seed) for found in (here, there))))
    return max(moved)


def _spent_on_steps(request: StepsModel, here: Any, there: Any) -> float:
    """The largest part of what each of its Gaussian releases may move: counts, sums at public points, calibration."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    clip = request.clip_for(1000)
    shape = (here.d, request.features.outputs) if request.features.apart else (here.d,)
    moved = [float(np.linalg.norm(here.counts() - there.counts())) / request.counts_sensitivity(here.most_ones)]
    for size in (0.0, 1.0, 100.0)[:_WEIGHTS]:
        weights, scales = size * rng.standard_normal(shape), scale_units(rng.uniform(0.1, 3.0, here.d))
        sums = [found.sums(weights, scales, clip_units(clip)).astype(np.float64) for found in (here, there)]
        moved.append(float(np.linalg.norm(sums[0] - sums[1])) / request.sums_sensitivity(clip))
        if request.calibrated:
            cells = [found.cells(weights).astype(np.float64) for found in (here, there)]
            moved.append(float(np.linalg.norm(cells[0] - cells[1])) / request.cells_sensitivity)
    return max(moved)
