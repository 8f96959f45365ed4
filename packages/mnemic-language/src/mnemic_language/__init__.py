"""Reading of sentences: words, times, lasting statements, and what a later statement does to an earlier one.

Import from its modules; this one loads nothing.
"""
