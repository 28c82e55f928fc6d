"""What the server says to those who visit it: that every place is taken, and what others than its owner may do."""

from __future__ import annotations

from html import escape

BEING_OPENED = (
    "The ledger is being opened and all of it checked, which may take some minutes, so nothing was given out; wait a "
    "little and ask again."
)
CLOSED = (
    "The ledger is closed, so nothing was given out or charged; ask the people who run this server, who read why by "
    "`epsilon-lab ledger status` and in its log."
)
FULL_TITLE = "Every place is taken"
FULL = (
    "So many people use Epsilon Lab here at this moment that one more would disturb them. "
    "This page tries again by itself, and opens as soon as somebody leaves."
)
SHARE_TITLE = "Many pages are open from where you are"
SHARE = (
    "So many pages of Epsilon Lab are open from your address that the places left are kept for others; where you share "
    "a network, they may be other people's. This page tries again by itself, and opens as soon as one is closed."
)
TRY_AGAIN = 15  # seconds
OTHER_NAME = "This server does not go by that name."
NOT_FOUND = "Not found."
NO_SUCH_PATH = "No address here has a line break or another control character; leave it out and ask again."
NO_LONG_PATH = "No address here is as long; shorten it and ask again."
LOG_IN_HERE = "Another page led here, so no login was begun. Use “Log in” on a page of this server."
LOG_OUT_HERE = "Another page led here, so nobody was logged out. Use “Log out” at the side of a page of this server."
TOO_MANY_FILES = "There are files of yours here already; reload the page and try again."
BEING_MADE = "So much is being made for this page already; wait a moment and try again."
TOO_MUCH_AT_ONCE = "So much is being uploaded here at this moment that there is no room; try again in a minute."
NOT_TAKEN_BY_DISK = "The server's disk did not take this file; try again in a minute, or tell the people who run it."
TOO_MUCH_TYPED = (
    "The boxes of this page hold too much text together, so what you typed or pasted last was not taken. Empty one of "
    "them, or bring a table as a file."
)
NO_ROOM_FOR_TEXT = (
    "There is no room here for so much text at this moment, so nothing of what you typed or pasted last was taken. "
    "Bring a table as a file, for which there is more room, or try again in some minutes."
)
TOO_MANY_REQUESTS = "So much is asked from your address at this moment that this has to wait; try again in a minute."
LOG_IN_FIRST = "Files are for those who have logged in; log in and bring the file again."
OTHERS_PAGE = "This page was opened by somebody else, or before you logged in anew; reload it and bring the file again."
OTHERS_FILE = "This file was made for somebody else, or for a login that has ended; go to the page and save it anew."
NOT_AS_A_BROWSER = "A file comes as a browser sends it, alone; reload the page and choose the file again."
TOO_SLOW = "The file took too long to arrive; try again where the network is faster."
NOT_UNDERSTOOD = "This page was sent something that it does not understand; reload it."

OPEN = "Open to others without a login: practice on samples only, no real release."


def failed(reference: str) -> str:
    """When this program fails at a whole page."""
    return (
        "Something in this program went wrong with this page; your data and settings are not at fault. Reload it, and "
        f"tell the people who run it the reference {reference}."
    )


def full() -> str:
    """The page for a visitor who has to wait, in HTML without anything to load."""
    return _wait(FULL_TITLE, FULL)


def its_share() -> str:
    """As ``full``, where there are places, and not for one more from the same address."""
    return _wait(SHARE_TITLE, SHARE)


def _wait(title: str, told: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="refresh" content="{TRY_AGAIN}"><title>Epsilon Lab</title>'
        "<style>:root{color-scheme:light dark}"
        "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}</style>"
        f'<h1 style="font-size:1.5rem">{escape(title)}</h1><p>{escape(told)}</p>'
    )
