"""Training seen from inside: losses step by step, clipping, batches and the regulariser, one picture at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from dashboard.blocks import Ask, Block, Picture, Slow, Small, Text
from dashboard.case import Case
from dashboard.charts.inside import ArrowWords, Run, arrows, banded
from dashboard.charts.promise import Line, promise
from dashboard.controls import Choice, Control, Read
from dashboard.questions.training import one_person
from dashboard.questions.training.curves import Asked
from dashboard.questions.training.prepared_rows import Task
from dashboard.questions.training.training_code import rows_code
from dashboard.words import inside as said
from dashboard.words import number
from dpcore.training import (
    Absolute,
    Logistic,
    NoisyGradientDescent,
    Rows,
    Squared,
    Trace,
    batch_curve,
    descent_trace,
    gradient_lengths,
    loss_curves,
    ridge_curve,
)
from dpcore.training.losses import linear
from dpcore.validate import FloatArray, IntArray

MOST_ROWS, MOST_PROGRAMMED = 4000, 400_000
STEPS, REPLICAS, RUNS, EPOCHS = 1000, 12, 30, 10.0
LONG = {True: 4.0, False: 1.5}
"""Steps that a descent without noise can take: for two classes, and for a number."""
LENGTHS = (0.1, 100.0, 31)
FRAMES = 20
SHOWN = 0.2
"""Part of the least excess risk down to which its cost without noise is drawn."""
VIEW: Choice[str] = Choice(
    key="training_inside",
    label=said.VIEW,
    options=tuple(said.VIEWS),
    names=said.VIEWS,
    default="losses",
    look="buttons",
    hide_label=True,
)
ROWS: Choice[int] = Choice(
    key="training_inside_rows",
    label=said.ROWS,
    options=(40, 150, MOST_ROWS),
    names=said.up_to,
    default=150,
    look="buttons",
)
PACE: Choice[str] = Choice(
    key="training_inside_pace",
    label=said.PACE,
    options=tuple(said.PACES),
    names=said.PACES,
    default="long",
)
CLIP: Choice[float] = Choice(
    key="training_inside_clip",
    label=said.CLIP,
    options=(0.05, 0.1, 0.2, 0.3, 0.5, 1.0),
    names=number,
    default=0.2,
    look="scale",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """What a worker process is asked: ``about`` is one of "losses", "batch" and "ridge"."""

    about: str
    method: NoisyGradientDescent
    rows: Rows
    seed: int


def simulate(task: Simulated, _: None) -> pd.DataFrame:
    """The frame that ``task`` describes; for a worker process."""
    rng, method = np.random.Generator(np.random.SFC64(task.seed)), task.method
    if task.about == "losses":
        return loss_curves(method, task.rows, rng, replicas=REPLICAS)
    if task.about == "ridge":
        return ridge_curve(method, task.rows, rng, replicas=RUNS)
    return batch_curve(
        task.rows,
        rng,
        epsilon=method.epsilon,
        delta=method.delta,
        loss=linear(method.loss),
        epochs=EPOCHS,
        replicas=RUNS,
    )


def blocks(case: Case, read: Read, task: Task, asked: Asked) -> Sequence[Block]:
    """The tab: which picture, and that picture."""
    view = read(VIEW, "tab")
    if view == "clipping":
        return _clipping(case, task, asked, read(CLIP, "tab"))
    if view == "lengths":
        return _lengths(case, task)
    usual = NoisyGradientDescent(epsilon=asked.epsilon, delta=asked.delta, loss=task.loss)
    if view == "one_person":
        return one_person.blocks(read, VIEW, asked, usual)
    if view != "losses":
        return _beside(case, task, asked, view, usual, MOST_ROWS, ())
    rate = LONG[task.two_classes] if read(PACE, "tab") == "long" else None
    method = NoisyGradientDescent(
        epsilon=asked.epsilon,
        delta=asked.delta,
        loss=task.loss,
        steps=STEPS,
        rate=rate,
        momentum=0.0,
        tail=1e-9,
    )
    return _beside(case, task, asked, view, method, read(ROWS, "tab"), (ROWS, PACE))


def _beside(
    case: Case,
    task: Task,
    asked: Asked,
    view: str,
    method: NoisyGradientDescent,
    most: int,
    controls: tuple[Control[str] | Control[int], ...],
) -> Sequence[Block]:
    """The controls, and what is simulated beside the page."""
    few = task.rows.at_most(min(most, MOST_ROWS))
    show = {"losses": _losses, "batch": _batch, "ridge": _ridge}[view]
    return [
        Ask((VIEW,)),
        *([Ask(controls)] if controls else []),
        Slow(
            slot=f"training-inside-{view}",
            key=(*task.identity, "inside", view, repr(method), few.X.shape[0], asked.seed),
            work=simulate,
            common=lambda: Simulated(about=view, method=method, rows=few, seed=asked.seed),
            show=partial(show, case, task, asked, method, few),
            what=said.WORKING,
            height=440,
        ),
    ]


def _losses(
    case: Case, task: Task, asked: Asked, method: NoisyGradientDescent, few: Rows, frame: pd.DataFrame
) -> Sequence[Block]:
    seen = {name: frame[frame["rows"] == name] for name in ("training", "test")}
    quiet = {name: part["without_noise"].to_numpy() for name, part in seen.items()}
    ends = tuple(float(part["value"].iloc[-1]) for part in seen.values())
    steps = seen["test"]["step"].to_numpy()
    best = int(np.argmin(quiet["test"]))
    turn = (float(quiet["test"][best]), float(quiet["test"][-1]), int(steps[best]), int(steps[-1]))
    runs = [
        *(
            _private(f"{called}, private", part["step"], part, ink)
            for (called, ink), part in zip(((said.TRAINING, 0), (said.TEST, 1)), seen.values(), strict=True)
        ),
        *(
            Run(name=f"{called}, {said.QUIET}", x=steps.astype(np.float64), value=quiet[name], ink=ink)
            for name, called, ink in (("training", said.TRAINING, 0), ("test", said.TEST, 1))
        ),
    ]
    n = int(few.X.shape[0])
    code = said.code_losses(asked.epsilon, asked.delta, method.rate, method.steps, asked.seed, REPLICAS)
    return [
        Text(said.losses(turn, (ends[0], ends[1]), n, asked.epsilon)),
        Picture(
            key="training-inside-losses",
            figure=lambda dark: banded(runs, x_title=said.STEP, y_title=said.LOSS, dark=dark),
            alt=said.losses_alt((float(quiet["training"][-1]), turn[1]), (ends[0], ends[1]), turn[3]),
            data=frame,
            code=rows_code(case, task, n, ("NoisyGradientDescent", "loss_curves"), code),
        ),
        Small(said.losses_note(n, REPLICAS, method.step_length(n))),
    ]


def _private(name: str, x: pd.Series, part: pd.DataFrame, ink: int) -> Run:
    value, low, high = (part[column].to_numpy(np.float64) for column in ("value", "low", "high"))
    return Run(name=name, x=x.to_numpy(np.float64), value=value, low=low, high=high, ink=ink)


def _batch(
    case: Case, task: Task, asked: Asked, _: NoisyGradientDescent, few: Rows, frame: pd.DataFrame
) -> Sequence[Block]:
    found = frame[frame["metric"] == "excess_risk"]
    batches, noise, risk = (found[name].to_numpy(np.float64) for name in ("batch", "noise", "value"))
    small, large = ((float(batches[end]), float(noise[end]), float(risk[end])) for end in (0, -1))
    n = int(few.X.shape[0])
    code = said.code_batch(asked.epsilon, asked.delta, asked.seed, RUNS)
    return [
        Text(said.batch(asked.epsilon, small, large)),
        Picture(
            key="training-inside-batch",
            figure=lambda dark: banded(
                [_private(said.PRIVATE, found["batch"], found, 0)], x_title=said.BATCH, y_title=said.EXCESS, dark=dark
            ),
            alt=said.batch_alt(asked.epsilon, list(zip(batches, risk, strict=True))),
            data=frame,
            code=rows_code(case, task, n, ("batch_curve",), code),
        ),
        Small(said.batch_note(n, RUNS, asked.delta, EPOCHS)),
    ]


def _ridge(
    case: Case, task: Task, asked: Asked, _: NoisyGradientDescent, few: Rows, frame: pd.DataFrame
) -> Sequence[Block]:
    every = frame[frame["metric"] == "excess_risk"]
    none, found = float(every["value"].iloc[0]), every[every["ridge"] > 0.0]
    ridges, risk, bias = (found[name].to_numpy(np.float64) for name in ("ridge", "value", "bias"))
    best = int(np.argmin(risk))
    runs = [
        _private(said.PRIVATE, found["ridge"], found, 0),
        Run(name=said.BIAS, x=ridges, value=bias, ink=1),
    ]
    n = int(few.X.shape[0])
    code = said.code_ridge(asked.epsilon, asked.delta, asked.seed, RUNS)
    return [
        Text(said.ridge(none, (float(ridges[best]), float(risk[best])), float(bias[-1]))),
        Picture(
            key="training-inside-ridge",
            figure=lambda dark: banded(
                runs, x_title=said.RIDGE, y_title=said.EXCESS, floor=float(risk.min()) * SHOWN, dark=dark
            ),
            alt=said.ridge_alt(none, list(zip(ridges, risk, strict=True))),
            data=frame,
            code=rows_code(case, task, n, ("NoisyGradientDescent", "ridge_curve"), code),
        ),
        Small(said.ridge_note(n, RUNS)),
    ]


def _clipping(case: Case, task: Task, asked: Asked, clip: float) -> Sequence[Block]:
    """Gradients of a few rows at each step, before and after."""
    few = task.rows.at_most(MOST_ROWS)
    method = NoisyGradientDescent(epsilon=asked.epsilon, delta=asked.delta, loss=task.loss, clip=clip)
    return [
        Ask((VIEW,)),
        Ask((CLIP,)),
        Slow(
            slot="training-inside-clipping",
            key=(*task.identity, "inside", repr(method), asked.seed),
            work=watch,
            common=lambda: Simulated(about="clipping", method=method, rows=few, seed=asked.seed),
            show=partial(_clipped, case, task, asked, method, few),
            what=said.WORKING,
            height=440,
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrows:
    """Gradients of a few rows at some ``steps`` of a descent, before and after clipping, the ``share`` of rows that are
    clipped at each of them, and the ``longest`` of all gradients."""

    steps: IntArray
    drawn: tuple[tuple[FloatArray, FloatArray], ...]
    share: FloatArray
    longest: float


def watch(simulated: Simulated, _: None) -> Arrows:
    """One descent; for a worker process."""
    rng = np.random.Generator(np.random.PCG64(simulated.seed))
    trace = descent_trace(simulated.method, simulated.rows.X, simulated.rows.y, rng)
    steps = np.unique(np.linspace(0, simulated.method.steps - 1, FRAMES).astype(int))
    return Arrows(
        steps=steps,
        drawn=tuple(_at_full_length(trace, int(step)) for step in steps),
        share=trace.clipped[steps],
        longest=float(np.linalg.norm(trace.gradients, axis=2).max()),
    )


def _clipped(
    case: Case, task: Task, asked: Asked, method: NoisyGradientDescent, few: Rows, found: Arrows
) -> Sequence[Block]:
    steps, drawn, clip = found.steps, found.drawn, float(method.clip or 0.0)
    share, shown, longest = float(found.share[0]), len(drawn[0][0]), found.longest
    names = [said.after_step(int(step) + 1, float(cut)) for step, cut in zip(steps, found.share, strict=True)]
    words = ArrowWords(
        before=said.BEFORE, after=said.AFTER, limit=f"{said.LIMIT} = {number(clip)}", x=said.ACROSS, y=said.UP
    )
    n, columns = int(few.X.shape[0]), int(few.X.shape[1])
    return [
        Text(said.clipping(share, clip, longest)),
        Picture(
            key="training-inside-clipping",
            figure=lambda dark: arrows(
                [one for one, _ in drawn], [other for _, other in drawn], clip, names, words, dark=dark
            ),
            alt=said.clipping_alt(shown, method.steps, share, clip),
            data=lambda: pd.concat(
                [
                    pd.DataFrame(
                        {"step": step + 1, "x": one[:, 0], "y": one[:, 1], "cut x": cut[:, 0], "cut y": cut[:, 1]}
                    )
                    for step, (one, cut) in zip(steps, drawn, strict=True)
                ],
                ignore_index=True,
            ),
            code=rows_code(
                case,
                task,
                n,
                ("NoisyGradientDescent", "descent_trace"),
                said.code_clipping(asked.epsilon, asked.delta, clip, asked.seed),
            ),
        ),
        Small(said.clipping_note(columns, n)),
    ]


def _at_full_length(trace: Trace, step: int) -> tuple[FloatArray, FloatArray]:
    """The arrows of a step, turned as in the plane and as long as they are in all directions together."""
    before, after = trace.arrows(step)
    flat = np.maximum(np.linalg.norm(before, axis=1, keepdims=True), 1e-300)
    full = np.linalg.norm(trace.gradients[step], axis=1, keepdims=True)
    return np.asarray(before * full / flat), np.asarray(after * full / flat)


def _lengths(case: Case, task: Task) -> Sequence[Block]:
    """How long a row's gradient can be, with a loss of bounded slope and with the squared one."""
    bounded: Logistic | Absolute = Logistic() if task.two_classes else Absolute()
    # the best absolute error is found by linear programming, which takes minutes of more numbers
    n = MOST_ROWS if task.two_classes else min(MOST_ROWS, MOST_PROGRAMMED // task.rows.X.shape[1])
    few = task.rows.at_most(n)
    return [
        Ask((VIEW,)),
        Slow(
            slot="training-inside-lengths",
            key=(*task.identity, "gradient lengths"),
            work=lengths,
            common=lambda: (bounded, few),
            show=partial(_gradients, case, task, bounded, n),
            what=said.WORKING,
            height=440,
        ),
        Small(said.LENGTHS_NOTE),
    ]


def lengths(asked: tuple[Logistic | Absolute, Rows], _: None) -> dict[str, pd.DataFrame]:
    """By the name of the loss; for a worker process."""
    bounded, few = asked
    places = np.geomspace(*LENGTHS[:2], LENGTHS[2]).tolist()
    return {one.name: gradient_lengths(one, few.X, few.y, places) for one in (bounded, Squared())}


def _gradients(
    case: Case, task: Task, bounded: Logistic | Absolute, n: int, found: dict[str, pd.DataFrame]
) -> Sequence[Block]:
    places = found[bounded.name]["length"].to_numpy()
    lines = [
        Line(
            key=f"{kind} {column}", name=name(kind), x=places, values=frame[column].to_numpy(), bound=column == "bound"
        )
        for column, name in (("largest", said.longest), ("bound", said.bound))
        for kind, frame in found.items()
    ]
    at = 10.0
    told = [float(np.interp(at, places, frame["largest"])) for frame in found.values()]
    return [
        Text(said.lengths(bounded.name, at, told[1], told[0])),
        Picture(
            key="training-inside-lengths",
            figure=lambda dark: promise(
                lines, x_title=said.LENGTH, y_title=said.GRADIENT, chosen=(at, f"‖w‖ = {number(at)}"), dark=dark
            ),
            alt=said.lengths_alt(bounded.name, at, told[1], told[0]),
            data=lambda: pd.concat([frame.assign(loss=kind) for kind, frame in found.items()], ignore_index=True),
            code=rows_code(
                case,
                task,
                n,
                (type(bounded).__name__, "Squared", "gradient_lengths"),
                said.code_lengths(bounded.name, *LENGTHS),
            ),
        ),
    ]
