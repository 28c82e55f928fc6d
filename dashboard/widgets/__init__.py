"""What pages draw: the flow of a question, and the pieces that two of them need."""
