"""The private poll: a room of phones whose votes are the data of one private answer."""
