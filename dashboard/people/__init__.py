"""Who is at a page: a login and all that goes with it, or a browser that is known again."""
