"""Data of known shapes: checked by JSON Schema, merged, found by its fields (docs/kinds.md)."""
