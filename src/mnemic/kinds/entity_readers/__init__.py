"""Readers of the entities and relations that a message names (`mnemic.extract.entities.EntityReader`)."""
