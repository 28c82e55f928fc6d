"""What is known about a sample before it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import pandas as pd

from dpcore.datasets.schema import Schema
from dpcore.errors import InvalidArgument, UnavailableSample
from dpcore.validate import one_of, whole

if TYPE_CHECKING:  # it loads DuckDB
    from dpcore.datasets.reading.reader import Tables

Question = Literal["selection", "thresholding", "experts", "training"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
Progress = Callable[[float, str], None]
_HERE = Path(__file__).resolve()
BUNDLED = _HERE.parent / "bundled" if (_HERE.parent / "bundled").is_dir() else _HERE.parents[2] / "data"
"""The bundled tables: beside this module where the program is installed, in ``data/`` where it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a loader may use: a file the person points to, what reads its cells (this process, unless it is given),
    and where to report progress (fraction done, words)."""

    path: Path | None = None
    progress: Progress | None = None
    tables: Tables | None = None

    def say(self, fraction: float, what: str) -> None:
        if self.progress is not None:
            self.progress(fraction, what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample: where it comes from, what it declares, and the questions it suits.

    ``why`` holds one (question, sentence) pair per suited question, the best suited first. ``asks`` names the form of
    a question and its columns where the sentence is not about the simplest form: (question, kind, columns), with the
    kinds and roles of ``Suited``. ``rows`` is known without loading. ``load`` gives a frame of text or numbers with at
    least the columns of ``schema``; ``path_allowed`` says that it can read a file of the person's own. Raises
    InvalidArgument.
    """

    key: str
    title: str
    about: str
    origin: str
    rows: int
    simulated: bool
    why: tuple[tuple[Question, str], ...]
    schema: Schema
    load: Callable[[Request], pd.DataFrame]
    path_allowed: bool = False
    needs_network: bool = False
    rank: int = 100
    asks: tuple[tuple[Question, str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        whole(1, rows=self.rows)
        if not self.simulated == ("simulated" in self.title) == self.origin.startswith("Simulated"):
            raise InvalidArgument(
                "simulated", "must agree with the title (“… (simulated)”) and with an origin that begins “Simulated”"
            )
        for question, _ in self.why:
            one_of(QUESTIONS, why=question)
        if len(set(self.suits)) != len(self.why):
            raise InvalidArgument("why", "must hold each question once")
        for question, _, columns in self.asks:
            one_of(self.suits, asks=question)
            self.schema.only(*columns)

    @property
    def suits(self) -> tuple[Question, ...]:
        return tuple(question for question, _ in self.why)

    def reason(self, question: Question) -> str:
        """Why this sample suits a question. Raises InvalidArgument."""
        for suited, sentence in self.why:
            if suited == question:
                return sentence
        raise InvalidArgument("question", "must be one that this sample suits")


def bundled(name: str) -> Callable[[Request], pd.DataFrame]:
    """A loader of one of the files in ``data/``, all as text."""

    def load(request: Request) -> pd.DataFrame:
        file = BUNDLED / name
        if not file.is_file():
            raise UnavailableSample(
                f"The sample file {name} is not in the data folder; put it back to use this sample."
            )
        return pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")

    return load
