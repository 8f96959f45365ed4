"""Faults to test a store with: power cuts, kills, failing calls; and the conditions that must be true afterwards."""
