"""Analysis of sentences: words, times, lasting statements, and the effect of a later statement on an earlier one.

Import from its modules; this one loads nothing.
"""
