"""The compiled loop, in a folder of its own so that listing the strategies does not load the compiler."""
