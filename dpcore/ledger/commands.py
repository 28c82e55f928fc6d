"""What the ledger's owner types, as sentences tell it: the installed script, which takes no module from the folder that
it is called in, as ``python -m`` does."""

from __future__ import annotations

PROGRAM = "epsilon-lab ledger"


def command(words: str) -> str:
    """One command of the ledger's, as a sentence shows it."""
    return f"`{PROGRAM} {words}`"


INIT, VERIFY, RESTORE, CONFIRM, PEOPLE = (
    command(words) for words in ("init", "verify", "restore", "confirm FILE", "people")
)
NEW_KEY, NEW_JOURNAL = command("restore --new-key"), command("restore --new-journal")
