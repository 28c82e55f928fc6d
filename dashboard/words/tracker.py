"""What the budget's tracker says: what is left, and how many more answers that is."""

from __future__ import annotations

from dashboard.words import about_100, amount, failing, plural

MANY = 1_000_000
NONE = "No budget is in view: the Data page says what is still needed."
SIMULATED = "These rows are simulated: there is nobody to protect and nothing to spend."
NOT_OPENED = "Nothing is spent: no budget has been opened for these people."
NO_MORE = "The budget of these people is not shared with you any more."
NOT_SEEN = "No budget of these people is open, or none that was shared with you."
CLOSED = "Everything else works; private answers wait until this is over, or mended by whoever runs this program:"
NO_RHO = "It cannot pay for answers of this kind: they have no ρ, in which this budget counts."
NO_DELTA = "Answers of this kind need a δ, which this budget does not have."
IN_RHO = (
    "Counted in ρ an answer takes what it tells of somebody on average, and not its ε: at one ε a choice or a median "
    "tells more on average than a model or a count with Gaussian noise, and takes a larger share. So many small "
    "answers fit and few large ones."
)
"""Why one ε is two shares, wherever a share is shown of a budget that counts in ρ."""
NOT_ENOUGH = "Not enough is left for one more answer to this question at this ε."


def no_delta(delta: float, remaining: float) -> str:
    return (
        f"Not enough δ is left for one more answer to this question: it takes δ = {failing(delta)}, and "
        f"{failing(remaining, left=True)} is left. Choose a smaller δ under “Options”, where there is one."
    )


def left(whole: float, remaining: float) -> str:
    """What is left where ε adds up."""
    if remaining >= whole:
        return _kept(f"All of the privacy budget is left (ε = {amount(whole)}).")
    if remaining <= 0.0:
        return _kept(f"Nothing of the privacy budget is left (it was ε = {amount(whole)}).")
    return _kept(f"ε = {amount(remaining, left=True)} of {amount(whole)} is left.")


def left_share(whole: float, delta: float, share: float) -> str:
    """What is left where answers do not add up like money."""
    told = "all" if share >= 1.0 else about_100(share, left=True)
    return _kept(
        f"{told[0].upper()}{told[1:]} of the privacy budget is left. The ε of its answers do not add up: all of them "
        f"together stay within ε = {amount(whole)} with δ = {failing(delta)}."
    )


def delta_left(remaining: float, whole: float) -> str:
    return _kept(f" Of δ = {failing(whole)}, {failing(remaining, left=True)} is left.")


def more(count: int, rest: float | None = None) -> str:
    """How many more answers fit; ``rest`` is the ε that is left after one, where ε adds up."""
    if count >= MANY:
        return "A million more answers to this question at this ε fit."
    kept = _kept(f", with ε = {amount(rest, left=True)} left") if rest is not None and rest > 1e-9 else ""
    told = f"**{plural(count, 'more answer', 'more answers')}** to this question at this ε"
    return f"{told}; after one, {count - 1:,}{kept}."


def at_the_end(*, practice: bool) -> str:
    """What happens when nothing is left."""
    again = "until you reset it, as practice can be" if practice else "ever: what is spent does not come back"
    return f" When it is used up no more answers are given, {again}."


def counted_in(delta: float) -> str:
    """That the odds of all answers hold with their δ, and what it is."""
    return f" δ = {failing(delta)} is counted in: by that chance more a guess may be right than ε alone allows."


def paid_for(*, practice: bool) -> str:
    """What everything together is that a budget pays for."""
    return f"all answers that it pays for{' until you reset it' if practice else ''}"


def delta_takes(each: float, remaining: float) -> str:
    """The second price of an answer, where δ adds up too."""
    return _kept(f" Each takes δ = {failing(each)} as well; {failing(remaining, left=True)} is left.")


def delta_first(each: float, remaining: float) -> str:
    """Why fewer answers fit than ε alone would pay for."""
    return _kept(
        f" Not more, because δ runs out first: each takes δ = {failing(each)}, and "
        f"{failing(remaining, left=True)} is left."
    )


def counted(counting: str, *, pure: bool) -> str:
    """How this budget counts."""
    if counting == "sum":
        return "Answers add up like money." + ("" if pure else " δ (10⁻⁶ is one in a million) adds up too.")
    if counting == "zcdp":
        return f"{IN_RHO} At half the ε an answer costs a quarter, with a δ up to a third."
    return f"Counted both by adding up and in ρ, whichever leaves more. {IN_RHO}"


def counts_more(hidden: str, promised: str) -> str:
    """Why an answer takes more of the budget than it costs by itself."""
    return _kept(
        f"An answer that hides {hidden} counts more here (twice in ε, four times in ρ): this budget hides {promised}."
    )


def cannot(hidden: str) -> str:
    return f"It cannot pay for answers that hide {hidden}."


def _kept(text: str) -> str:
    return text.replace(" = ", "\u00a0=\u00a0")  # so that no line of the narrow sidebar ends in the middle of it
