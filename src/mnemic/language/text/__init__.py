"""Processing of text: normalisation, and splitting into terms."""
