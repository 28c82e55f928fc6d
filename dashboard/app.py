"""Epsilon Lab: the script that Streamlit runs for every page.

It does nothing where it is imported: a worker process imports this file under another name, and must not run the app.
"""

from __future__ import annotations

import sys
from pathlib import Path

# `streamlit run dashboard/app.py` puts this folder, not the project's root, on the path.
if str(Path(__file__).parents[1]) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parents[1]))

if __name__ == "__main__":
    from dashboard import replay, session, shell
    from dashboard.background import this_run
    from dashboard.background.turns import turn

    with turn(), this_run.drawing(), replay.drawing(session.SAID.once()):
        shell.main()
