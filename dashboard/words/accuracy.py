"""What the pictures about α say: where it comes from, and the two ways in which a run is wrong."""

from __future__ import annotations

from dashboard.words import number, safe, times_in_100, visible, whole
from dpcore.thresholding import AboveThreshold

PARTS = {
    "exact": "α, exact",
    "threshold": "with the line's noise alone",
    "queries": "with the answers' noise alone",
    "theorem": "the theorem's α",
}
FALSE_ALARM, MISSED = "false alarm", "missed"
BETA = "β, both together at most"
CHANCE = "times in 100"


def against(k: float, alpha: float, line: float, answers: float, unit: str) -> str:
    more = "the answers' noise" if answers >= line else "the line's noise"
    return (
        f"**Look at how flat the lines are:** up to a billion answers α only grows like ln k. At k = {whole(k)} it is "
        f"**{number(alpha)} {safe(unit)}**: the line's noise alone would make it {number(line)}, the answers' alone "
        f"{number(answers)}, so most of it is {more}."
    )


def against_alt(k: float, alpha: float, line: float, answers: float, unit: str) -> str:
    return (
        f"α against the number of answers. At {whole(k)} answers: {number(alpha)} {visible(unit)}; with the line's "
        f"noise alone {number(line)}, with the answers' noise alone {number(answers)}."
    )


def two_errors(alpha: float, beta: float, false: float, missed: float, unit: str) -> str:
    return (
        f"**(α, β)-accurate names two errors:** an alarm at an answer {number(alpha)} {safe(unit)} or more below the "
        f"line (a false alarm, here {times_in_100(false)} on the worst series) and none at an answer that far above it "
        f"(missed, {times_in_100(missed)}). **Look where their sum passes β = {number(beta)}:** that distance is α."
    )


def errors_alt(alpha: float, false: float, missed: float) -> str:
    return (
        f"Chances of the two errors against the distance from the line. At α = {number(alpha)}: false alarm "
        f"{times_in_100(false)}, missed {times_in_100(missed)}."
    )


def made(mechanism: AboveThreshold) -> str:
    return (
        f"AboveThreshold(epsilon={mechanism.epsilon!r}, sensitivity={mechanism.sensitivity!r}, "
        f"noise={mechanism.noise!r}, threshold_share={mechanism.share!r}, monotonic={mechanism.monotonic!r}, "
        f"offset={mechanism.offset!r})"
    )


def code_split(mechanism: str, k: int, beta: float) -> str:
    return (
        "from dpcore.thresholding import AboveThreshold, alpha_against_queries\n\n"
        f"frame = alpha_against_queries({mechanism}, [{k}, 10**6, 10**9], {beta!r})\n"
        "print(frame.to_string())\n"
    )


def code_errors(mechanism: str, k: int, alpha: float) -> str:
    return (
        "from dpcore.thresholding import AboveThreshold, error_kinds\n\n"
        f"print(error_kinds({mechanism}, {k}, {alpha!r}))\n"
    )
