"""Scaled noisy descent as a method of the catalogue: on rows of steps and options, or on any rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from dpcore.about import About
from dpcore.errors import InvalidArgument
from dpcore.training.coded import CodedRows
from dpcore.training.dense_rows import DenseRows
from dpcore.training.fit import Fit, checked
from dpcore.training.losses import Logistic, Squared
from dpcore.training.scaled_descent import ScaledDescent, ScaledFit
from dpcore.training.steps_method import StepsMethod
from dpcore.validate import FloatArray

if TYPE_CHECKING:
    from numpy.random import Generator

CALIBRATION_SHARE = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledSteps(StepsMethod[CodedRows]):
    """``ScaledDescent`` for classes or a number: noisy counts, noisy clipped gradient sums, noisy calibration.

    (ε, δ)-DP in total, exactly, as ``ScaledDescent`` proves it. Where a ``Sweep`` has its rows as ``CodedRows``
    (numbers and dates cut into steps by public constants) it trains on those, one weight for every step and option,
    and counts how many rows there are with noise; on plain rows X it scales by noisy sums of squares, and n is public.
    Weights are calibrated: multiplied by a factor that noisy counts choose. With more than two ``classes``, on coded
    rows alone, it is one softmax model of all of them and weights are (replicas, d, classes). Fixed settings for every
    table. Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = ScaledSteps(epsilon=1.0, delta=1e-5).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 1e-05)
    """

    key: ClassVar[str] = "scaled_descent"
    rank: ClassVar[int] = 15
    about: ClassVar[About] = About(
        name="Noisy descent on steps",
        plain="points for every range and option, learnt in noisy steps",
        how=(
            "Numbers and dates are cut at round numbers that follow from declared bounds, and every range and every "
            "option gets points of its own. First it is counted with noise how many people are in each, so that rare "
            "ones can learn as fast as common ones. Then at every step each row says which way would help it; long "
            "answers are cut; noise is added to their sum. What is released is an average of the last steps."
        ),
        formula=(
            r"\begin{aligned}s_j &= \bigl(\tilde f_j + c\bigr)^{-1/2}, \quad \tilde x_{ij} = s_j x_{ij} \\ "
            r"w &\leftarrow w - \tfrac{\eta}{\tilde n}\Bigl(\sum_i g_i \min\bigl(1, \tfrac{C}{\|g_i\|}\bigr) "
            r"+ N\bigl(0, C^2 \tfrac{T}{1 - a} \sigma^2 I\bigr)\Bigr)\end{aligned}"
        ),
        source=(
            "Gaussian releases that may depend on earlier ones add up exactly (Dong, Roth and Su, JRSS B 2022); their "
            "ε is closed form (Balle and Wang, ICML 2018); the descent is Bassily, Smith and Thakurta, FOCS 2014."
        ),
        release="scaled_model",
    )

    def __post_init__(self) -> None:
        self.descent()

    def descent(self) -> ScaledDescent:
        """The same for any number of classes, with what it all costs."""
        if not isinstance(self.loss, Logistic | Squared):
            raise InvalidArgument("loss", "must be logistic or squared here")
        if self.classes > 2 and not isinstance(self.loss, Logistic):
            raise InvalidArgument("classes", "must be 2 where a number is predicted")
        return ScaledDescent(
            epsilon=self.epsilon,
            delta=self.delta,
            loss=self.loss,
            classes=self.classes,
            steps=self.steps,
            clip=self.clip,
            momentum=self.momentum,
            tail=self.tail,
            calibration_share=CALIBRATION_SHARE if isinstance(self.loss, Logistic) else 0.0,
            neighbours=self.neighbours,
        )

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray | CodedRows, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several ε at once: the rows are read once a step for all of them."""
        if not isinstance(X, CodedRows):
            if methods[0].classes > 2:
                raise InvalidArgument("X", "must be coded rows for more than two classes")
            plain, y = checked(X, y, methods[0].loss, rng, replicas)
        rows = X if isinstance(X, CodedRows) else DenseRows(plain)
        fits = ScaledDescent.fit_all([method.descent() for method in methods], rows, y, rng, replicas)
        return [
            Fit(
                weights=_weights(fit),
                loss=method.loss,
                method=cls.key,
                cost=method.cost,
            )
            for method, fit in zip(methods, fits, strict=True)
        ]


def _weights(fit: ScaledFit) -> FloatArray:
    """Calibrated weights (replicas, d), or (replicas, d, classes)."""
    calibrated = fit.weights * fit.factors[:, None, None]
    return calibrated[:, :, 0] if calibrated.shape[2] == 1 else calibrated
