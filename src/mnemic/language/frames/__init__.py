"""Frame of one statement: its subject, attributes and values, and the word lists for extracting them."""
