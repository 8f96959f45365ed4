"""Text as people write it: normalising, and cutting into terms."""
