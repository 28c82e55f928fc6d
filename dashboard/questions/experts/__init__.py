"""Parts of the Online experts page."""
