"""The Streamlit product: pages, controls and pictures around dpcore."""
