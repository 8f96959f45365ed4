"""One file for each kind of caller."""
