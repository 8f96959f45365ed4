"""Maintenance and administration of memories after they have been written."""
