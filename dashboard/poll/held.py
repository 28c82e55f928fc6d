"""What a session holds of the poll: a phone's token, and one sentence to say."""

from __future__ import annotations

from dashboard.session import Slot

PHONE: Slot[str | None] = Slot("_poll_phone", lambda: None)
"""The random token that this phone's cookie keeps."""
PROBLEM: Slot[str | None] = Slot("_poll_problem", lambda: None)
"""Why something that was asked for cannot be; said once."""
