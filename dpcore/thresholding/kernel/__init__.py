"""Compiled loops, in a folder of their own so that listing the mechanisms does not load the compiler."""
