"""Work beside the pages: jobs, worker processes, what is remembered, and whose turn it is."""
