"""Frame of one statement: its subject, its attributes and values, and the words by which it is read."""
