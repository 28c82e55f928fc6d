"""Private models in the conventions of scikit-learn; a package of its own so that nothing else loads scikit-learn."""
