"""Parts of the Budget page, some of which other pages show too."""
