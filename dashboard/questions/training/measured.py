"""What is read off the simulated curves at the chosen ε, in the measure that is asked for.

Two classes have two measures of their own: how many of the class that is told are found, whatever it costs the other
one, and how many of both are told right, however rare one of them is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from dashboard.case import Case
from dashboard.controls import Number
from dashboard.question import Better, Need, Outcomes, Price, Uncertain
from dashboard.questions.training import curves
from dashboard.questions.training.curves import Asked, at_epsilon, methods, scale, slot
from dashboard.questions.training.prepared_rows import Task
from dashboard.view import Most, Needed, Proviso, found_level
from dashboard.words import measured as said
from dashboard.words import predict as about_page
from dashboard.words.measured import MISTAKES_ELSEWHERE
from dashboard.words.usual import of_100
from dpcore.training import judges, reaching
from dpcore.training.baselines import NON_PRIVATE
from dpcore.training.judges import EIGHTY
from dpcore.training.recall import BALANCED, FOUND
from dpcore.training.training_problem import METRICS

CLEARLY = 0.03
"""By how much another method must do better to be named: this share more right, or four times it less error."""
Band = tuple[float, float, float]
"""A value, and between what most private models lie."""


def measures(task: Task) -> Mapping[str, str]:
    """What the chart can measure, and what each is called: by what is declared, whatever rows there are."""
    named = {task.metric: METRICS[task.metric].name}
    if task.apart:
        return named
    if task.two_classes:
        named |= {FOUND: said.found(task.classes[1]), BALANCED: METRICS[BALANCED].name}
    return named | {"excess_risk": METRICS["excess_risk"].name}


def of_one_class(task: Task) -> bool:
    """Whether all rows to judge on are of one class, so that nothing is known of the other."""
    return task.two_classes and task.second in (0.0, 1.0)


def measurable(task: Task, metric: str) -> str:
    """The measure that is shown where this one is asked for."""
    return task.metric if metric in (FOUND, BALANCED) and of_one_class(task) else metric


def _of_few(share: float, rows: float) -> float:
    """The variance of a share of few rows, as Wilson's interval has it: where none of 13 is found, some of the next 13
    may be."""
    spread = EIGHTY**2 / rows
    return (share * (1.0 - share) + spread / 4.0) / rows / (1.0 + spread) ** 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What is known at the chosen ε from ``along``, what is simulated along ε so far, if anything."""

    case: Case
    task: Task
    asked: Asked
    along: pd.DataFrame | None

    @property
    def complete(self) -> bool:
        return slot("epsilon") in self.case.complete

    @property
    def metric(self) -> str:
        """The measure of which the headline speaks: of excess risk nobody knows what to think."""
        return self.task.metric if self.asked.metric == "excess_risk" else self.asked.metric

    def at(self, method: str, metric: str = "", epsilon: float | None = None) -> Band | None:
        """Value and band of a method at an ε, if not another one at the chosen, in the task's own metric if in no
        other."""
        if self.along is None:
            return None
        level = self.asked.epsilon if epsilon is None else epsilon
        return at_epsilon(self.along, method, metric or self.task.metric, level)

    @property
    def right(self) -> Band | None:
        """The method in use in the task's own metric."""
        return self.at(self.asked.main)

    @property
    def shown(self) -> Band | None:
        """The method in use in the metric of the headline."""
        return self.at(self.asked.main, self.metric)

    # -- headline and caption ------------------------------------------------------------------------------------------

    def told(self) -> tuple[str, str]:
        """Headline and caption, from what is simulated so far."""
        task, asked, right = self.task, self.asked, self.right
        shown, plain = self.shown, self.at(NON_PRIVATE, self.metric)
        wrong = self.wrong()
        price = said.hurt(task.classes, self._dearest(wrong)) if wrong and self.complete else ""
        told = "" if self.metric == FOUND else self._mistakes(wrong)
        how = said.how_judged(methods(task)[asked.main].about, task.n, task.tested, told)
        if right is None or shown is None or plain is None:
            return said.headline_waiting(asked.epsilon), how
        value, low, _ = shown
        apart = self.uncertain() is not None
        if self.metric == FOUND:
            classes = task.classes
            alarmed = 0.0 if wrong is None else wrong[1]
            headline = said.headline_found(
                asked.epsilon, classes, (value, alarmed), asked.target, low, stays=self._stays()
            )
            return headline, said.caption_found(plain[0], right[0], task.guessing, how)
        if self.metric == BALANCED:
            headline = said.headline_balanced(asked.epsilon, value, plain[0], asked.target, low) + price
            return headline, said.caption_right(plain[0], shown, task.tested, how, apart=apart)
        target = asked.target if asked.metric == task.metric else None
        if not task.classifies:
            headline = said.headline_error(asked.epsilon, value, task.guessing, plain[0], target)
            return headline, said.caption_error(plain[0], task.guessing, shown[1:], how, apart=apart)
        headline = said.headline_right(asked.epsilon, value, task.guessing, plain[0], target, low) + price
        return headline, said.caption_right(plain[0], shown, task.tested, how, apart=apart)

    def wrong(self, epsilon: float | None = None) -> tuple[float, float] | None:
        """The shares of the second of two classes and of the first that are told wrong at an ε, if not another one at
        the chosen, where known."""
        hit, alike = (self.at(self.asked.main, metric, epsilon) for metric in (FOUND, BALANCED))
        if hit is None or alike is None:
            return None
        return 1.0 - hit[0], 1.0 - (2.0 * alike[0] - hit[0])

    def _dearest(self, wrong: tuple[float, float]) -> tuple[int, float] | None:
        """Of which of two classes clearly more are told wrong than without privacy, and what share; the worse one."""
        hit, alike = self.at(NON_PRIVATE, FOUND), self.at(NON_PRIVATE, BALANCED)
        if hit is None or alike is None:
            return None
        plain = 1.0 - hit[0], 1.0 - (2.0 * alike[0] - hit[0])
        place = 0 if wrong[0] >= wrong[1] else 1
        return (1 - place, wrong[place]) if wrong[place] > plain[place] + CLEARLY else None

    def also(self) -> dict[str, Callable[[float], str | None]]:
        """What is told at half and twice the ε beside the measure: how many of one of two classes are missed."""
        if self.metric == FOUND or not self.complete or self.wrong() is None:
            return {}

        def missed(epsilon: float) -> str | None:
            wrong = self.wrong(epsilon)
            return None if wrong is None else of_100(wrong[0])

        return {said.missed(self.task.classes[1]): missed}

    def _stays(self) -> bool | None:
        """Whether what is needed is reached at every higher ε as well; None while curves are not whole."""
        if self.along is None or not self.complete:
            return None
        enough = self._reaches(self.along)
        return enough is not None and enough <= self.asked.epsilon * (1.0 + 1e-9)

    def _reaches(self, frame: pd.DataFrame, along: str = "epsilon", *, most: bool = False) -> float | None:
        """Where the method in use reaches what is needed: on average, or ``most`` of its models."""
        asked = self.asked
        return reaching(frame, asked.target, method=asked.main, metric=asked.metric, along=along, most=most)

    def _mistakes(self, wrong: tuple[float, float] | None) -> str:
        """How many of each of two classes are told ``wrong`` at this ε, of 100; where it is told if that is not
        known."""
        if wrong is None or not self.complete:
            return MISTAKES_ELSEWHERE if self.task.classifies else ""
        plain = self.at(NON_PRIVATE, FOUND)
        return said.mistakes(self.task.classes, *wrong, None if plain is None else 1.0 - plain[0])

    # -- other methods -------------------------------------------------------------------------------------------------

    def better(self, method: str) -> Better | None:
        """Another method that has a release and does clearly better, on data that everybody may see; ``method`` is the
        key of the control that takes it."""
        task, asked, kinds, shown = self.task, self.asked, methods(self.task), self.shown
        if shown is None or not self.case.source.public or not self.complete:
            return None
        values = {key: self.at(key, self.metric) for key in asked.methods if kinds[key].about.release is not None}
        if self.metric == FOUND:  # more are found by who takes more of the others for them, too
            values = {key: value for key, value in values.items() if self._tells_more(key)}
        others = {key: value[0] for key, value in values.items() if value is not None and key != asked.main}
        if not others:
            return None
        best = (max if task.classifies else min)(others, key=others.__getitem__)
        clearly = others[best] > shown[0] + CLEARLY if task.classifies else others[best] < (1 - 4 * CLEARLY) * shown[0]
        name, tell = kinds[best].about.name, self.tell
        told = said.better(name, tell(others[best]), tell(shown[0]), self._missed_by(best))
        return Better(sentence=told, control=method, value=best, label=about_page.use(name)) if clearly else None

    def _missed_by(self, method: str) -> str:
        """How many of the second of two classes a method misses, where that is not what is measured."""
        hit = self.at(method, FOUND)
        return "" if hit is None or self.metric == FOUND else said.and_misses(self.task.classes[1], 1.0 - hit[0])

    def _tells_more(self, method: str) -> bool:
        """Whether a method tells both classes apart clearly better than the one in use."""
        theirs, mine = self.at(method, BALANCED), self.at(self.asked.main, BALANCED)
        return theirs is not None and mine is not None and theirs[0] > mine[0] + CLEARLY

    def worth_buying(self, cost: str, fixed: str, beside: Callable[[str, str], str]) -> list[str]:
        """What the ``fixed`` way, which costs nothing, does ``beside`` the one in use, on data that everybody may see,
        and when the ``cost`` pays."""
        mine, free = self.right, self.at(fixed)
        if mine is None or free is None or not self.complete or not self.case.source.public:
            return [cost]
        tell = said.right if self.task.classifies else said.error
        return [beside(tell(mine[0]), tell(free[0])) + " " + cost]

    @property
    def tell(self) -> Callable[[float], str]:
        """How a value in the metric of the headline is said of a method."""
        if self.metric == FOUND:
            positive = self.task.classes[1]
            return lambda value: said.finds(positive, value)
        if self.metric == BALANCED:
            return said.right_alike
        return said.right if self.task.classifies else said.error

    # -- outcomes, and how sure ----------------------------------------------------------------------------------------

    def outcomes(self) -> Outcomes | None:
        """Fifty predictions, when no more models come that would change the number."""
        shown = self.shown
        if shown is None or not self.task.classifies or slot("epsilon") not in self.case.finished:
            return None
        one = self.metric == FOUND
        return Outcomes(
            names=said.FOUND_MISSED if one else said.RIGHT_WRONG,
            chances=[shown[0], 1 - shown[0]],
            good=[True, False],
            what=said.DOTS_ALIKE
            if self.metric == BALANCED
            else said.dots_found(self.task.classes[1])
            if one
            else said.dots(self.task.guessing),
            then=said.NEXT,
        )

    def uncertain(self) -> Uncertain | None:
        """How far off through the luck of the noise, and through having only these people to judge by: of 100 cases 80.

        The first from the simulated models; the second by the binomial law of right predictions on the rows left out,
        of a class by itself where that is measured (Wilson's interval), or for a number by how much squared errors
        differ between them (``judges``).
        """
        task, shown, models = self.task, self.shown, self.asked.seeds
        plain = self.at(NON_PRIVATE, self.metric)
        if shown is None or plain is None or task.tested < 2 or not self.complete:
            return None
        value, low, high = shown
        noise = (high - low) / 2.0
        if not task.classifies:
            half, error = self._by_rows()
            sentence = said.uncertain_error(low, high, (half, error), task.tested, models=models)
            return Uncertain(noise=noise, people=half, sentence=sentence, sign="±", in_100=False, names=said.BETWEEN)
        judged = said.judges(task.tested)
        people = EIGHTY * math.sqrt(self._by_chance(value))
        if self.metric == FOUND:
            judged = said.judges_of(task.classes[1], round(task.second * task.tested))
        sentence = said.uncertain(low, high, people, judged, self._of_what(), models=models)
        return Uncertain(noise=noise, people=people, sentence=sentence, sign="±", names=said.BETWEEN)

    def _of_what(self) -> str:
        """What the headline's number counts."""
        if self.metric == FOUND:
            return said.found_of_100(self.task.classes[1])
        if self.metric == BALANCED:
            return said.ALIKE
        return said.RIGHT if self.task.classifies else said.ERROR

    def price(self) -> Price | None:
        """What privacy costs at the chosen ε, once the models there are simulated."""
        shown, plain = self.shown, self.at(NON_PRIVATE, self.metric)
        if shown is None or plain is None or not self.complete:
            return None
        higher, of_100 = METRICS[self.metric].higher, self.task.classifies
        told = said.price(self._of_what(), self.asked.epsilon, plain[0], shown[0], higher=higher, of_100=of_100)
        return Price(without=told[0], private=told[1], difference=told[2])

    def _by_chance(self, value: float) -> float:
        """The variance of the headline's share through the rows that happened to be left out to judge."""
        task, wrong = self.task, self.wrong()
        second = task.second * task.tested if task.two_classes else 0.0
        if self.metric == FOUND:
            return _of_few(value, second)
        if self.metric == BALANCED and wrong is not None:
            missed, alarmed = wrong
            return (_of_few(missed, second) + _of_few(alarmed, task.tested - second)) / 4.0
        return _of_few(value, task.tested)

    def _by_rows(self) -> tuple[float, float]:
        """By how much other rows to judge on would move a squared error at this ε in 80 of 100 cases, and by what share
        of itself that may be wrong."""
        key = ("judges", *curves.sweep_key(self.task, self.asked, "epsilon"), self.asked.main)
        results = self.case.results[slot("epsilon")]
        found = self.case.memo(key, lambda: judges(results, self.asked.main, self.task.tested, self.task.n))
        half, error = (curves.between(found, self.asked.epsilon, name) for name in ("half", "error"))
        return half, error

    # -- what is needed ------------------------------------------------------------------------------------------------

    def needed(self, control: Number, method: str, sizes: pd.DataFrame | None, *, by_rows: bool) -> Need:
        """Which ε and how many rows are enough, once whole curves are there to read it off: ``sizes`` along the number
        of rows, where the chart is drawn ``by_rows``. ``method`` is the key of the control that chooses it."""
        asked, along = self.asked, self.along
        if along is None or not self.complete:
            over = slot("epsilon") in self.case.finished
            return Need(control=control, found=None, waiting=about_page.STOPPED if over else about_page.WAITING)
        mine = along[(along["metric"] == asked.metric) & (along["method"] == asked.main)]
        plain = along[(along["metric"] == asked.metric) & (along["method"] == NON_PRIVATE)]
        if mine.empty:
            return Need(control=control, found=None, waiting=about_page.NOT_MEASURED)
        higher, best = METRICS[asked.metric].higher, float(plain["value"].iloc[0])
        own = self.case.source.mode == "what_if"
        epsilon, surely = (found_level(self._reaches(along, most=most), own=own) for most in (False, True))
        needed = Needed(
            epsilon=epsilon,
            size=None,
            size_word=about_page.ROWS,
            possible=epsilon is not None or (best >= asked.target if higher else best <= asked.target),
            without_privacy=best * scale(asked.metric).factor,
            sized=False,
            average=True,
            most=Most(answers=said.MODELS, epsilon=surely, found=said.MOST_FOUND),
        )
        if sizes is not None:
            span = (float(sizes["n"].min()), float(sizes["n"].max()))
            needed = replace(needed, size=self._reaches(sizes, "n"), sized=True, searched=span)
        hint = about_page.HINT_ROWS if sizes is None and needed.possible and not by_rows else ""
        return Need(
            control=control, found=needed, hint=hint, proviso=self._proviso(epsilon), better=self.better(method)
        )

    def _proviso(self, enough: float | None) -> Proviso | None:
        """What is not measured and somebody must find good enough as well, at this ε and at the smallest that is
        ``enough``."""
        if not self.task.classifies:
            return None
        classes, here = self.task.classes, self.wrong()
        there = None if enough is None else self.wrong(enough)
        if here is None:
            return said.will_do(classes, None, None)
        if self.metric == FOUND:
            return said.alarms_will_do(classes, here[1], None if there is None else there[1])
        return said.will_do(classes, here[0], None if there is None else there[0])
