"""Streamlit's settings come from this program and its environment alone.

Streamlit also obeys files in the folder that it is called in and in the home folder, whoever put them there, and while
it runs: one of them could let pages of another site speak to this server in a visitor's name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from streamlit import config

_TRUTH = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True) | dict.fromkeys(
    ("0", "false", "f", "no", "n", "off"), False
)
_KINDS: dict[type, tuple[Callable[[str], Any], str]] = {
    bool: (lambda text: _TRUTH[text.strip().lower()], "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
}


def alone() -> None:
    """From now on no file of settings or secrets is looked for; before the server is loaded."""
    config.get_config_files = lambda file_name: []
    if config._config_options is not None:  # some were read before
        config.get_config_options(force_reparse=True)


def said() -> dict[str, Any]:
    """What the environment sets (STREAMLIT_…), read as `streamlit run` does it; secrets Streamlit reads by itself.

    Raises ValueError with a sentence.
    """
    found = {}
    for name, option in config._config_options_template.items():
        text = os.environ.get(option.env_var)
        if text is None or option.sensitive:
            continue
        read, what = _KINDS.get(option.type, (str, ""))
        try:
            found[name] = [read(one) for one in text.split()] if option.multiple else read(text)
        except (ValueError, KeyError):
            raise ValueError(f"{option.env_var} must be {what}") from None
    return found
