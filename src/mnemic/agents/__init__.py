"""FRAMEWORKS: each adapter knows the engine and one framework, and comes with an extra of the same name."""
