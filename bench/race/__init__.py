"""The race: mnemic beside what others use for memory, in one run on one machine, with the same texts and vectors."""
