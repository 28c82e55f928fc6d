"""A black-box audit of everything that can be released: what an attacker can tell apart, against what is claimed."""
