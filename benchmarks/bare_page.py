"""What Streamlit itself needs for one slider and one Plotly chart of two lines: the measure of a page's rerun."""

from __future__ import annotations

import numpy as np
import streamlit as st

epsilon = st.slider("Privacy level ε", 0.1, 2.0, 0.5, key="epsilon")
x = np.linspace(0.0, 1.0, 60)
lines = [{"type": "scatter", "x": x.tolist(), "y": (x**power).tolist()} for power in (epsilon, 2.0 * epsilon)]
st.plotly_chart({"data": lines, "layout": {"height": 400}}, key="chart")
