"""Analysis of questions: their topic, their time and their words."""
