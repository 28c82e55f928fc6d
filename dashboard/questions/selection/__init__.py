"""The three questions of the Selection page."""
