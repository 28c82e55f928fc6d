"""The compiled loops over coded rows; a package of its own so that looking for methods does not load the compiler."""
