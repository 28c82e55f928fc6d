"""What a server that begins in a test's own process changes for good, and that it is put back."""

from __future__ import annotations

import logging

from streamlit.runtime import memory_media_file_storage
from streamlit.runtime.state import session_state

from dashboard import failures, media, values


def changed_in_streamlit() -> list[str]:
    """What a server that began in this process has changed in Streamlit and in logging for good; put back."""
    kept = any(failures._is_kept in logging.getLogger(name).filters for name in failures._LEFT_OUT)
    left = {
        "the names of files": memory_media_file_storage._calculate_file_id is not media._plain,
        "the values of widgets": session_state.WStates.__getitem__ is not values._read,
        "what the log leaves out": kept,
    }
    media.unguard()
    values.unguard()
    failures.write_all_to_the_log()
    return [name for name, changed in left.items() if changed]
