"""What the tab about the theorems of private training says."""

from __future__ import annotations

from dashboard.words import whole

SIMULATED = "the method of the theorem, simulated"
EXCESS = "excess risk: loss above the best model's"
WORKING = "Training the theorem's models"


def note(models: int, least: float, most: float, radius: float, steps: int) -> str:
    return (
        f"Simulated means of {models} models at each of several sizes from {whole(least)} to {whole(most)} rows, more "
        f"being people like these. Excess risk over the ball of radius {radius:g}; {steps} steps, nothing clipped. "
        "Rates say how the best possible excess grows, not how large it is: lines may lie above them."
    )
