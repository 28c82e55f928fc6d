"""The questions, found by discovery: a folder for each page, a file for each question."""
