"""Real tables from the drop to the first right chart, in a browser."""
