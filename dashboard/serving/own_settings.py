"""Streamlit's settings come from this program and its environment alone.

Streamlit also obeys files in the folder that it is called in and in the home folder, whoever put them there, and while
it runs: one of them could let pages of another site speak to this server in a visitor's name.
"""

from __future__ import annotations

from streamlit import config


def alone() -> None:
    """From now on no file of settings or secrets is looked for; before the server is loaded."""
    config.get_config_files = lambda file_name: []
    config.get_config_options(force_reparse=True)
