"""Maintenance and administration of memories: what happens to them after they have been written."""
