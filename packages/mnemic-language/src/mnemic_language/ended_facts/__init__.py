"""Ends of what was stated: jobs left, courses given up, things sold, people and animals who died, and denials."""
