"""The private poll, as the speaker sees it; phones have a page of their own (``?join``)."""

from __future__ import annotations

from dashboard.poll import speaker

speaker.show()
