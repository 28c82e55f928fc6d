"""Parts that every page is made of: charts with their exports, cards, scenarios and the release."""
