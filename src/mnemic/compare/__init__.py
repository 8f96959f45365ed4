"""Same, opposite or superseding: what a statement is to what is known."""
