"""The audit of pages and server: what an attacker learns before an answer, and from what is left behind."""
