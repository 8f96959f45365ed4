"""The kinds of memory, each with its verbs."""
