"""PEOPLE AND THINGS: their names, their identity, and the memories that a search reaches from one to another."""
