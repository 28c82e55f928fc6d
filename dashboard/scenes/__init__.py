"""Scenes: addresses with a title and a sentence, in decks that are toured, presented and shared."""
