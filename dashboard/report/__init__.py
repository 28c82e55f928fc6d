"""The decision on paper: what a report says, as a value, and how it is written as PDF, DOCX, HTML and a notebook."""
