"""What the two live games say: whom to follow, and the alarm. No sentence here is made from what a phone said."""

from __future__ import annotations

from dashboard.words import amount, at_most, no_less, number, odds, plural, safe, times_in_100

# -- what the room does ------------------------------------------------------------------------------------------------

KIND = "What will the room do?"
KINDS = {"vote": "Vote once", "follow": "Predict, round by round", "watch": "Tap until the alarm goes off"}
TEAM = "Team"

# -- refusals ----------------------------------------------------------------------------------------------------------

TWO_OUTCOMES = "Name two different things that can happen, such as heads and tails."
NO_ROUND = "This round is over: predictions stay as they are."
NOT_LISTENING = "The alarm is not listening now."
NO_THREAD = "The server has no room for that at the moment; try again soon."
NO_MEMORY = "The server had no memory left for that."
NOT_ANNOUNCED = "The true counts stay hidden: they were not announced before."


def rounds_between(fewest: int, most: int) -> str:
    return f"The number of rounds must be a whole number from {fewest} to {most}."


def teams_between(fewest: int, most: int) -> str:
    return f"The number of teams must be a whole number from {fewest} to {most}."


def bar_between(fewest: int, most: int) -> str:
    return f"The line must be a whole number of phones from {fewest} to {most:,}."


def looks_between(fewest: int, most: int) -> str:
    return f"The number of looks must be a whole number from {fewest} to {most}."


def seconds_between(least: float, most: float) -> str:
    return f"The time between two looks must be from {least:g} to {most:g} seconds."


def too_few(teams: int) -> str:
    return f"There must be at least {teams} phones, one for each team."


# -- both --------------------------------------------------------------------------------------------------------------

PEOPLE = "About how many will come?"
PEOPLE_HELP = (
    "Count the people in the room. The pictures of a simulated room are made for this number, so that they tell "
    "nothing about who says what."
)
END = "End it"
END_HELP = "Everything that phones said is forgotten at once. Answers and receipts stay on the phones."
ENDED = "It has ended: everything that phones said is forgotten."
ENDED_PHONE = "It has ended. What this phone said is forgotten; answers stay here for a while."
ANOTHER = "Start another one"
ANOTHER_HELP = "Phones can then no longer open the answers of this one; receipts they saved stay theirs."
COUNTS_LABEL = "Show the truth at the end"
COUNTS_LABEL_HELP = (
    "The truth is not private. With this, every phone is told before it says anything; it cannot be changed later."
)
SHOW_TRUTH = "Show the truth"
TRUTH = "The truth"
TRUE_MARK = "Not private: shown because it was announced before."
LATE = "The room was closed when this phone came, so it looks on."


def truth_coming(counts: bool) -> str:
    """What was announced, for phones and screen."""
    if counts:
        return (
            "**The speaker will show the truth at the end.** That is not private: what it tells about one phone is "
            "limited by nothing but the size of the room."
        )
    return "The truth will not be shown to anyone."


def receipt_named(word: str) -> str:
    return f"Receipt {word}"


# -- whom to follow ----------------------------------------------------------------------------------------------------

FOLLOW_WHY = (
    "Phones are in teams and predict round by round. Before each round one team is drawn to be followed: more often "
    "one that has been right so far, and with so much chance that no single phone shows."
)
FOLLOW_QUESTION = "What is predicted in every round?"
FIRST_FOLLOW = "Heads or tails?"
OUTCOMES = "What can happen"
ROUNDS, TEAMS = "Rounds", "Teams"
TEAMS_HELP = "Phones are spread over the teams in the order they come. Fewer, larger teams hide each phone better."
FOLLOW_EPSILON = "Privacy level ε of all rounds together"
OPEN_FOLLOW = "Open the room"
START_FOLLOW = "Close the room and start round 1"
FOLLOWED = "Followed in this round"
FIRST_DRAWN = "Drawn with equal chances: nothing is known yet, so it cost nothing."
IT_WAS = "It was"
DRAW_NEXT = "Draw whom to follow next"
DRAW_FAILED = "The next team was not drawn. Draw again: nothing is charged twice."
YOUR_TEAM = "Your team"
FOLLOW_OVER = "All rounds are over"
REGRET = "regret, in rounds"
ROUND_AXIS = "round"
PROMISED = "promised at most, on average"
IN_SIMULATED = "in a simulated room, on average"
TRULY = "in this room, truly"
BEST = "Suppose the best team is right in so many rounds of 100"
BEST_HELP = "An assumption of yours; the other teams are right in 50. No prediction is read for this picture."
REGRET_WHY = (
    "Regret is how many more rounds are lost than by following the best team throughout. The real one is made of what "
    "phones said, so it stays hidden while the room plays; these two lines follow from what was declared."
)
WHO_FOLLOW = (
    "- Nobody is shown what you predict: not the speaker, not the room. Your own phone shows it to you.\n"
    "- What the screen shows after each round, the team to follow, is drawn from everybody's predictions with noise. "
    "All rounds together cost the room's ε, so what is hidden is all that this phone predicts, in all rounds at once.\n"
    "- Not hidden: that this phone is here, in which team, and what your team may be known for otherwise.\n"
    "- Until the room ends, predictions are in the memory of the server that this page comes from; whoever runs it "
    "could read them there. They are never written to disk. The ledger keeps the teams that were drawn and their cost."
)


def follow_headline(number_: int, rounds: int, team: str) -> str:
    return f"Round {number_} of {rounds}: follow {team}"


def followed_so_far(plays: tuple[str, ...], happened: tuple[str, ...]) -> str:
    rounds = enumerate(zip(plays, happened, strict=False), 1)
    told = [f"{place}: {team} ({safe(what)})" for place, (team, what) in rounds]
    return f"So far: {', '.join(told)}." if told else ""


def follow_protection(epsilon: float, rounds: int) -> str:
    """What all plays can do to a guess about one phone."""
    return (
        f"Anyone's guess about all that one phone predicts in {rounds} rounds: right 50 times in 100 before, at most "
        f"**{at_most(odds(epsilon))}** in 100 after all of them, whatever else they know."
    )


def follow_forecast(rounds: int, people: int, regret: float, blind: float, promised: float) -> str:
    return (
        f"In a simulated room of {people:,} people, following privately loses about **{number(regret)}** of {rounds} "
        f"rounds more than the best team does; drawing a team blindly loses {number(blind)}, and the theorem promises "
        f"at most {no_less(promised)}. More people, or fewer rounds, make it better at the same ε."
    )


def follow_cost(spent: float, epsilon: float) -> str:
    left = "" if spent > 0.999 * epsilon else f", less than the declared ε = {amount(epsilon)}: more would not help"
    return f"All rounds together cost ε = {amount(spent)}{left}. The first round looks at nothing and is free."


def team_of(team: str, size: int) -> str:
    return f"{YOUR_TEAM}: **{team}**, {plural(size, 'phone')}."


def your_prediction(outcome: str | None) -> str:
    if outcome is None:
        return "You have not predicted this round yet; a missing prediction counts one half."
    return f"You predict: **{safe(outcome)}**. You can change it until the speaker says what happened."


def true_regret(lost: float, best: str, least: float) -> str:
    return (
        f"Following lost **{number(lost)}** rounds in truth; the best team, {best}, lost {number(least)}. "
        f"Regret: **{number(lost - least)}**."
    )


# -- the alarm ---------------------------------------------------------------------------------------------------------

WATCH_WHY = (
    "Phones tap once, when they want to. The alarm compares the number of taps with a line, both with noise, look by "
    "look, and goes off once. Nobody is shown a tap or a count."
)
WATCH_QUESTION = "When should people tap?"
FIRST_WATCH = "Tap when you want a break"
BAR = "The line: so many phones"
BAR_HELP = "Chosen before anybody taps. The alarm goes off near it: the line gets noise that stays secret."
LOOKS, SECONDS = "Looks", "Seconds between looks"
WATCH_EPSILON = "Privacy level ε of the whole listening"
LISTEN = "Close the room and listen"
LISTENING = "Listening"
NOT_STARTED = "The alarm could not start: "
STOPPED = "Listening stopped without an answer, so this room has ended: to listen twice would cost twice. "
KEPT = (
    "The alarm has stopped listening, and the ledger could not take its answer at that moment: this is tried again for "
    "a minute, and the answer is shown here as soon as it is stored. Nothing more is charged."
)
TAP = "Tap"
TAPPED = "You have tapped. A tap stays: it cannot be taken back."
NOT_TAPPED = "You have not tapped. You can tap once; a tap cannot be taken back."
NOT_YET_LISTENING = "The speaker starts the alarm; then you can tap."
LOOK_AXIS, CHANCE_AXIS = "look at which the alarm goes off, in a simulated room", "times in 100"
TAPPING = "Suppose so many of 100 people tap, evenly over the time"
TAPPING_HELP = "An assumption of yours, to see when the alarm would go off. No tap is read for this picture."
WHO_WATCH = (
    "- Nobody is shown whether you tapped: not the speaker, not the room. Your own phone shows it to you.\n"
    "- The room learns one thing: at which look the alarm went off, or that it never did. It costs the ε above once, "
    "however many looks were silent; what is hidden is whether this phone tapped, and when.\n"
    "- Not hidden: that this phone is here.\n"
    "- Until the room ends, taps are in the memory of the server that this page comes from; whoever runs it could read "
    "them there. They are never written to disk. The ledger keeps the look and its cost."
)


def listening(look: int, looks: int) -> str:
    return f"{LISTENING}: look {look} of {looks}"


def bar_told(bar: int, looks: int, seconds: float) -> str:
    return f"Line: about {plural(bar, 'phone')}. {looks} looks, one every {number(seconds)} seconds."


def alarm_told(look: int | None, seconds: float) -> str:
    if look is None:
        return "The alarm stayed silent"
    return f"The alarm went off at look {look}, after about {number(look * seconds)} seconds"


def watch_protection(epsilon: float) -> str:
    return (
        "Anyone's guess whether one phone tapped: right 50 times in 100 before, at most "
        f"**{at_most(odds(epsilon))}** in 100 after the alarm, whatever else they know."
    )


def watch_forecast(
    tapping: int, people: int, reached: int | None, low: int, high: int, silent: float, false: float
) -> str:
    """The headline of the simulated room."""
    truly = f"reach the line at look {reached}" if reached is not None else "never reach the line"
    off = f"between look **{low}** and look **{high}**" if high >= low else "hardly ever"
    return (
        f"In a simulated room of {people:,} people, {tapping} in 100 tap and {truly}; the alarm goes off {off} in 80 "
        f"of 100 runs, and stays silent {times_in_100(silent)}. If nobody taps at all, the noise alone sets it off "
        f"**{times_in_100(false)}**: a larger ε, a higher line or fewer looks make that rarer."
    )


def watch_cost(epsilon: float) -> str:
    return f"It costs ε = {amount(epsilon)}, this room's whole budget, however long it listens."


def true_taps(counts: list[int], bar: int, look: int | None) -> str:
    reached = next((place for place, count in enumerate(counts, 1) if count >= bar), None)
    truly = f"The line was truly reached at look {reached}" if reached is not None else "The line was not reached"
    at = counts[look - 1] if look is not None else counts[-1]
    return f"{truly}. When listening ended, {plural(at, 'phone')} had tapped."
