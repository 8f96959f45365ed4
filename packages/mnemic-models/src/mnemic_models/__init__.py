"""Language models and embedders by the vendors' own clients (docs/models.md)."""
