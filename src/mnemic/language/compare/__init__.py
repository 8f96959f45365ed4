"""Comparison of the words and values of two texts."""
