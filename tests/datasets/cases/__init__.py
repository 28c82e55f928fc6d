"""Files as people have them, made by code: each gets the right reading, or one clear sentence."""

from tests.datasets.cases import brought, encoding, header, hostile, kinds, numbers, other
from tests.datasets.cases.table import CASES, Case

__all__ = ["CASES", "Case", "brought", "encoding", "header", "hostile", "kinds", "numbers", "other"]
