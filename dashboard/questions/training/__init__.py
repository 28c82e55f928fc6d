"""Parts of the Private training page."""
