"""Readers of sentences: which clause says something lasting, and which is a question, a request, a jest or pasted."""
