"""How Streamlit's runtime runs a page here: when its script begins, what it is sent, how its state is looked up."""
