"""The samples, one file per origin. A new file with a tuple ``SAMPLES`` is enough to add some."""
