"""Readers of questions: the topic, the time and the words that they ask about."""
