"""What stands before Streamlit's server and starts it: who and what is let in, at which pace, and what is logged.

``gate`` is where every request and message comes through. Of a request ``heads`` reads what it says, ``answers`` what a
browser is told; ``messages`` and ``uploads`` bound what a page sends.
"""
