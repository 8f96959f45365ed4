"""CLOCK, THREADS AND FORKS: what runs the verbs, and knows nothing of memories."""
