"""The theme's colours can be read: text at 4.5 to 1 (WCAG 2 AA), in both appearances."""

from __future__ import annotations

import colorsys
import tomllib
from pathlib import Path

import pytest

from dashboard import session
from dashboard.widgets import inputs as controls
from tests.dashboard.test_charts import contrast

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())["theme"]


def hovered(colour: str) -> str:
    """Streamlit darkens a primary button by 0.15 of HSL lightness under the pointer."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, light, saturation = colorsys.rgb_to_hls(*parts)
    return "#" + "".join(f"{round(255 * p):02x}" for p in colorsys.hls_to_rgb(hue, max(0.0, light - 0.15), saturation))


def tinted(paper: str, colour: str) -> str:
    """What a chosen segment is drawn on: a tenth of the primary colour over the paper."""
    mixed = (0.9 * int(paper[i : i + 2], 16) + 0.1 * int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_text_in_the_theme_s_colours_can_be_read(kind: str) -> None:
    """Links, chosen tabs and segments, and the slider's number, on the page, in boxes and in the sidebar."""
    look = THEME[kind]
    papers = [
        place[name] for place in (look, look["sidebar"]) for name in ("backgroundColor", "secondaryBackgroundColor")
    ]
    for paper in papers:
        assert contrast(look["textColor"], paper) >= 7
        assert contrast(look["linkColor"], paper) >= 4.5
        assert contrast(look["primaryColor"], paper) >= 4.5
    assert contrast(look["primaryColor"], tinted(look["backgroundColor"], look["primaryColor"])) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_the_label_of_a_primary_button_can_be_read(dark: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "dark", lambda: dark)
    label = controls.primary("Release")
    ink = "#000000" if 'foreground="#000000"' in label else "#ffffff"
    button = THEME["dark" if dark else "light"]["primaryColor"]
    assert "Release" in label
    assert contrast(ink, button) >= 4.5
    assert contrast(ink, hovered(button)) >= 4.5
