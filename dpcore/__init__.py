"""Differential privacy mechanisms with their exact laws, accounting, a ledger and private releases.

Subpackages: ``selection``, ``thresholding``, ``experts``, ``training`` (mechanisms), ``datasets`` (tables and files),
``releases`` (questions that can be answered privately). Modules: ``tradeoff`` (sweeps), ``accounting``,
``calibration``, ``guarantee``, ``ledger``, ``release``.
"""

from __future__ import annotations

from dpcore.costs import Cost
from dpcore.errors import DpcoreError

__all__ = ["Cost", "DpcoreError", "__version__"]
__version__ = "0.1.0"
