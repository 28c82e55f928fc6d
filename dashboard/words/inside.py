"""What the pictures of training seen from inside say."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.words import number, tiny, whole

TITLE = "Seen from inside"
VIEW = "What to look at"
VIEWS: Mapping[str, str] = {
    "losses": "Loss by step",
    "clipping": "Clipping",
    "lengths": "Why clip gradients",
    "one_person": "Change one person",
    "batch": "Batch size",
    "ridge": "Regulariser",
}
ROWS = "Rows to train on"
PACE = "Length of a step"
PACES = {"long": "long, as without privacy", "usual": "as the product takes it for this noise"}
CLIP = "Longest gradient of a row, C"
WORKING = "Training from inside"
STEP, LOSS = "step", "mean loss of a row"
TRAINING, TEST = "the rows trained on", "new rows"
QUIET = "without noise"
BEFORE, AFTER, LIMIT = "before clipping", "after", "C"
ACROSS, UP = "towards the best model", "where the path strays"
LENGTH, GRADIENT = "length of the weights ‖w‖", "length of one row's gradient"
BATCH, EXCESS = "rows in a batch, on average", "excess risk: loss above the best model's"
RIDGE = "regulariser λ"
PRIVATE, BIAS = "private (band: range of what you might see)", "best without noise"
CALLED = {"logistic": "logistic loss", "squared": "squared loss", "absolute": "absolute loss"}


def up_to(rows: int) -> str:
    return whole(rows) if rows < 4000 else f"up to {whole(rows)}"


def losses(quiet: tuple[float, float, int, int], private: tuple[float, float], rows: int, epsilon: float) -> str:
    """``quiet``: test loss without noise at its least and at the end, after how many steps of how many; ``private``:
    training and test loss at the end with noise."""
    least, end, best, steps = quiet
    if end > 1.01 * least:
        plain = (
            f"without noise the loss on new rows is least after {whole(best)} steps, {number(least)}, and rises to "
            f"{number(end)} while that on the rows trained on goes on falling: it learns these {whole(rows)} rows by "
            "heart, which is overfitting"
        )
    else:
        plain = (
            f"without noise the loss on new rows falls to the end, {number(end)} after {whole(steps)} steps: "
            f"{whole(rows)} rows are enough that nothing is learnt by heart"
        )
    return (
        f"**Look where the lines for new rows turn:** {plain}. With the noise of ε = {number(epsilon)} both end "
        f"higher, at **{number(private[0])}** and **{number(private[1])}**: no single row can be learnt by heart."
    )


def losses_alt(quiet: tuple[float, float], private: tuple[float, float], steps: int) -> str:
    return (
        f"Loss against steps, both axes logarithmic. After {whole(steps)} steps: without noise {number(quiet[0])} on "
        f"the rows trained on and {number(quiet[1])} on new rows, with noise {number(private[0])} and "
        f"{number(private[1])}."
    )


def losses_note(rows: int, replicas: int, length: float) -> str:
    return (
        f"Simulated: {replicas} private runs on {rows:,} rows, 8 of 10 within the band; steps of length "
        f"{number(length)}. The place after the last step is shown, not an average of the last steps."
    )


def clipping(share: float, clip: float, longest: float) -> str:
    return (
        f"**Look which arrows are cut at the circle:** the longest of these is {number(longest)}, and no row may ask "
        f"for more than C = {number(clip)}. In the first step **{number(100 * share)} in 100** rows are cut; the "
        "noise has to cover C, not the longest arrow."
    )


def clipping_alt(shown: int, steps: int, share: float, clip: float) -> str:
    return (
        f"Gradients of {shown} rows as arrows at each of {steps} steps, before clipping and cut at a circle of radius "
        f"{number(clip)}; {number(100 * share)} in 100 of all rows are cut in the first step."
    )


def clipping_note(columns: int, rows: int) -> str:
    return (
        f"Each arrow points as it does in the plane of the path, and is as long as in all {columns} numbers of the "
        f"model. {rows:,} rows; play, or move the slider, to see later steps."
    )


def after_step(step: int, share: float) -> str:
    return f"step {step}: {number(100 * share)} in 100 rows cut"


def lengths(bounded: str, at: float, squared: float, other: float) -> str:
    return (
        f"**Look how only one loss keeps its limit:** rows were cut to length 1, so with the {CALLED[bounded]} a "
        f"row's gradient is never longer than 1 (here {number(other)} at ‖w‖ = {number(at)}). With the squared loss "
        f"it grows with the error, to **{number(squared)}** here: cutting rows limits nobody, so gradients must be cut."
    )


def lengths_alt(bounded: str, at: float, squared: float, other: float) -> str:
    return (
        f"The longest gradient of a row against the length of the weights, both axes logarithmic: at {number(at)}, "
        f"{number(squared)} with the squared loss and {number(other)} with the {CALLED[bounded]}."
    )


def bound(kind: str) -> str:
    return f"{CALLED[kind]}: most that any row could"


def longest(kind: str) -> str:
    return f"{CALLED[kind]}: longest of these rows"


LENGTHS_NOTE = (
    "Exact. The weights point towards the best model of each loss, or away from it. Dashed: 1 for the bounded loss, "
    "1 + ‖w‖ for the squared one, whatever the rows."
)


def batch(epsilon: float, small: tuple[float, float, float], large: tuple[float, float, float]) -> str:
    """(rows in a batch, noise on their mean gradient, excess risk) of the smallest and the largest batch."""
    return (
        f"**Look at the ends of the line, equally private:** at ε = {number(epsilon)} batches of "
        f"{number(small[0])} rows have noise {number(small[1])} on each step's mean and an excess risk of "
        f"**{number(small[2])}**; all {number(large[0])} rows at once have {number(large[1])} and "
        f"**{number(large[2])}**. Small batches hide who is in them, but fewer rows share the noise."
    )


def batch_alt(epsilon: float, found: list[tuple[float, float]]) -> str:
    each = "; ".join(f"{number(rows)} rows {number(value)}" for rows, value in found)
    return f"Excess risk against batch size at ε = {number(epsilon)} and equal passes: {each}."


def batch_note(rows: int, replicas: int, delta: float, epochs: float) -> str:
    return (
        f"Simulated: {replicas} models at each point, {rows:,} rows, {epochs:g} passes over them at (ε, δ = "
        f"{tiny(delta)}) in all. Batches are drawn anew at each step, each row by chance: only then do they hide it."
    )


def ridge(none: float, best: tuple[float, float], most: float) -> str:
    """Excess risk without a regulariser; (λ, excess risk) of the best one; what the largest costs without noise."""
    gain = (
        f"λ = {number(best[0])} has the least excess risk here, **{number(best[1])}** against {number(none)} without"
        if best[1] < 0.99 * none
        else f"none is better than λ = 0 here, **{number(none)}**"
    )
    return (
        f"**Look where the two lines meet:** on the left noise decides, on the right the regulariser itself, which "
        f"pulls the weights to 0: {gain}, and the largest λ costs {number(most)} even without noise."
    )


def ridge_alt(none: float, found: list[tuple[float, float]]) -> str:
    each = "; ".join(f"λ = {number(at)} {number(value)}" for at, value in found)
    return f"Excess risk against the regulariser: none {number(none)}; {each}."


def ridge_note(rows: int, replicas: int) -> str:
    return (
        f"Simulated: {replicas} models at each point, {rows:,} rows; judged by the loss without the regulariser. "
        "Choosing λ by looking would itself cost budget."
    )


def _method(epsilon: float, delta: float, **more: object) -> str:
    options = "".join(f", {name}={value!r}" for name, value in more.items())
    return f"method = NoisyGradientDescent(epsilon={epsilon!r}, delta={delta!r}, loss=loss{options})\n"


def _rng(seed: int) -> str:
    return f"rng = np.random.Generator(np.random.SFC64({seed}))\n"


def _trace(seed: int) -> str:
    return f"trace = descent_trace(method, rows.X, rows.y, np.random.Generator(np.random.PCG64({seed})))\n"


def code_losses(epsilon: float, delta: float, rate: float | None, steps: int, seed: int, replicas: int) -> str:
    return (
        _method(epsilon, delta, steps=steps, momentum=0.0, tail=1e-9, rate=rate)
        + _rng(seed)
        + f"print(loss_curves(method, rows, rng, replicas={replicas}).to_string())\n"
    )


def code_clipping(epsilon: float, delta: float, clip: float, seed: int) -> str:
    return _method(epsilon, delta, clip=clip) + _trace(seed) + "print(trace.clipped)\nprint(trace.arrows(0))\n"


def code_lengths(bounded: str, low: float, high: float, points: int) -> str:
    made = {"logistic": "Logistic", "absolute": "Absolute"}[bounded]
    return (
        f"for one in ({made}(), Squared()):\n"
        f"    print(one.name)\n"
        f"    found = gradient_lengths(one, rows.X, rows.y, np.geomspace({low!r}, {high!r}, {points}))\n"
        "    print(found.to_string())\n"
    )


def code_batch(epsilon: float, delta: float, seed: int, replicas: int) -> str:
    return (
        _rng(seed)
        + f"found = batch_curve(rows, rng, epsilon={epsilon!r}, delta={delta!r}, loss=loss, replicas={replicas})\n"
        "print(found.to_string())\n"
    )


def code_ridge(epsilon: float, delta: float, seed: int, replicas: int) -> str:
    return (
        _method(epsilon, delta)
        + _rng(seed)
        + f"print(ridge_curve(method, rows, rng, replicas={replicas}).to_string())\n"
    )


def code_descent(epsilon: float, delta: float, seed: int) -> str:
    return (
        _method(epsilon, delta) + _trace(seed) + "print(trace.path, trace.loss - trace.least)\n"
        "print(trace.signal, trace.noise)\n"
    )


def code_lesson(kind: str, epsilon: float, delta: float, seed: int, replicas: int) -> str:
    curve = {"steps": "steps_curve", "clip": "clipping_curve"}[kind]
    return (
        _method(epsilon, delta) + _rng(seed) + f"print({curve}(method, rows, rng, replicas={replicas}).to_string())\n"
    )
