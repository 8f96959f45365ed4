"""DATA OF A KNOWN SHAPE: its schema, its identity, how two versions become one, and how it is read from a text."""
