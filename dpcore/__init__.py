"""Differential privacy mechanisms, their exact laws, accounting and releases."""
