"""The step H⁻¹ g of Newton's method for a mean of losses of margins: H = Xᵀ diag(curvatures) X + ridge."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from dpcore.validate import FloatArray

DENSE = 200
"""Columns up to which a Hessian is made and taken apart."""
_SPARSE, _MOST = 0.25, 300


class Steps:
    """Steps for the rows X (n, d), whatever their curvatures.

    Of few columns by the Hessian's eigenvectors. Of many that takes minutes: there by conjugate gradients, which take H
    times a step alone, on columns scaled to the same curvature, to a residual that is small beside the slope, so that
    the method converges as fast as before (Dembo, Eisenstat and Steihaug, SIAM Journal on Numerical Analysis 19, 1982).
    Both leave the null space alone. Options are columns of zeros but for one each: these are products of few numbers.
    ``hard`` is whether such a step was given up before its residual was small: columns that nearly say the same.
    """

    def __init__(self, X: FloatArray) -> None:
        self._X, self._many = X, X.shape[1] > DENSE
        self.hard = False

    @cached_property
    def _sparse(self) -> csr_array | None:
        """Where most numbers are 0."""
        few = self._many and np.count_nonzero(self._X) < _SPARSE * self._X.size
        return csr_array(self._X) if few else None

    def __call__(self, curvatures: FloatArray, ridge: float, slope: FloatArray) -> FloatArray:
        """``curvatures`` (n,) with the mean's 1/n in them, at least 0; ``slope`` (d,). Shape (d,)."""
        return self._conjugate(curvatures, ridge, slope) if self._many else self._exact(curvatures, ridge, slope)

    def _exact(self, curvatures: FloatArray, ridge: float, slope: FloatArray) -> FloatArray:
        hessian = (self._X * curvatures[:, None]).T @ self._X + ridge * np.eye(slope.size)
        sizes, directions = np.linalg.eigh(hessian)
        kept = sizes > sizes[-1] * 1e-13
        return np.asarray(directions[:, kept] @ ((directions[:, kept].T @ slope) / sizes[kept]))

    def _conjugate(self, curvatures: FloatArray, ridge: float, slope: FloatArray) -> FloatArray:
        X = self._X if self._sparse is None else self._sparse
        bends = self._bends(curvatures) + ridge
        flat = bends <= 0.0  # columns of zeros: no step changes anything
        scale = np.where(flat, 0.0, 1.0 / np.sqrt(np.where(flat, 1.0, bends)))
        residual = scale * slope
        step, direction, size = np.zeros_like(slope), residual, float(residual @ residual)
        enough = size * min(1e-2, float(np.linalg.norm(slope))) ** 2
        for _ in range(_MOST):
            if size <= enough:
                break
            ahead = scale * direction
            bent = scale * (X.T @ (curvatures * (X @ ahead)) + ridge * ahead)
            along = float(direction @ bent)
            if along <= 0.0:  # but for rounding nothing is left
                break
            step = step + (size / along) * direction
            residual = residual - (size / along) * bent
            before, size = size, float(residual @ residual)
            direction = residual + (size / before) * direction
        else:
            self.hard = True
        return np.asarray(scale * step)

    def _bends(self, curvatures: FloatArray) -> FloatArray:
        """How far each column bends by itself, shape (d,)."""
        if self._sparse is None:
            return np.asarray(np.einsum("i,ij,ij->j", curvatures, self._X, self._X))
        return np.asarray(curvatures @ self._sparse.power(2))
