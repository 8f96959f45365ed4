"""Ends of stated facts: jobs left, courses given up, things sold, people and animals who died, and denials."""
