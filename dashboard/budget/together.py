"""What several people have to do with budgets: which of its views who is logged in may open. None without a login."""

from __future__ import annotations

from collections.abc import Callable

from dashboard.background import compute
from dashboard.budget import auditing, deciding, sharing
from dashboard.people import login
from dashboard.words import login as said


def bodies() -> dict[str, Callable[[], None]]:
    """Views of the Budget page by title."""
    if login.person() is None:
        return {}
    roles, found = compute.roles(), dict[str, Callable[[], None]]()
    if roles - {"viewer"} or deciding.has_own():
        found[said.REQUESTS] = deciding.show_requests
    if "owner" in roles:
        found[said.SHARING] = sharing.show_sharing
    if "auditor" in roles:
        found[said.RECORDS] = auditing.show_records
    return found
