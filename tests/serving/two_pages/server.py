"""The two pages as the product's server would show them, or where UNGUARDED is set as Streamlit does by itself."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from streamlit.starlette import App

from dashboard.runtime import left_pages


@asynccontextmanager
async def begun(served: App) -> AsyncIterator[None]:
    if "UNGUARDED" not in os.environ:
        left_pages.guard()
    yield


app = App(Path(__file__).with_name("pages.py"), lifespan=begun)
