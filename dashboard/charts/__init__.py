"""Tidy frames to Plotly figures, as plain dictionaries: no Streamlit here."""
