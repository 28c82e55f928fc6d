"""What the program is made of: a list of its parts, and whether anything is known against them."""
