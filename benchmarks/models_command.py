"""What the commands that try models on ``models_tables`` share: what they are told, and where they write."""

from __future__ import annotations

import argparse
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def parser(program: str, about: str | None, splits: int | None) -> argparse.ArgumentParser:
    """``[TABLE …] [--splits N]``; ``about`` is the command's docstring."""
    made = argparse.ArgumentParser(prog=f"python -m {program}", description=str(about).split("\n")[0])
    made.add_argument("tables", nargs="*")
    made.add_argument("--splits", type=int, default=splits)
    return made


def write(report: Path, lines: list[str], absent: list[str]) -> None:
    """The report, and below it which tables could not be had."""
    out = [*lines, *(f"Left out: {sentence}.\n" for sentence in absent)]
    report.write_text("\n".join(out).rstrip() + "\n", encoding="utf-8")
