"""Whether a page that opens a connection is the server's own is looked at here alone, and asked of nobody.

Streamlit looks once more behind the gate. What does not equal the server's name to the letter, capitals among it, it
holds against the addresses of this computer: it asks an address of Amazon's for them, for seconds where no answer
comes, in the thread that answers everybody.
"""

from __future__ import annotations

from streamlit.web.server.starlette import starlette_websocket

from dashboard.runtime.replaced import Methods, put, put_back, there
from dashboard.serving.heads import may_open

_OURS: Methods = {(starlette_websocket, "_is_origin_allowed"): may_open}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
