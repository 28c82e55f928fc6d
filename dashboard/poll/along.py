"""Who goes along to a room's replica from another, where their file stays behind: whoever chose so on a page of ours.

No header says for certain that such a page led a browser: over plain HTTP it does not send the one that no other page
can have it send (``Sec-Fetch-Site``). So the link carries what that page alone can know: a digest of the room's code
and of this phone's token, by a key that the servers of one start have, and HAProxy, which works it out anew
(``serving.replicas``).
"""

from __future__ import annotations

import hmac
import os

KEY = "EPSILON_LAB_ALONG"
"""Where ``replicas`` gives each server the key, in hexadecimal digits."""


def proof(code: str, phone: str) -> str:
    """That the phone of this token goes along to the room of this plain code."""
    return hmac.digest(bytes.fromhex(os.environ.get(KEY, "")), f"{code}:{phone}".encode(), "sha256").hex()
