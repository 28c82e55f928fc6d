"""The parts of the Data page: samples, a person's own file, and a table that is only described."""
