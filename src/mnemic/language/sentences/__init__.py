"""Analysis of sentences: lasting clauses, questions, requests, jokes and pasted text."""
