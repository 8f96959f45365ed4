"""Faults to try a store with: power cuts, kills, and what must be true afterwards."""
