"""PEOPLE AND THINGS: their names, who is the same, and what a search reaches from one to another."""
