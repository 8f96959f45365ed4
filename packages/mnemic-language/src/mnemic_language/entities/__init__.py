"""People and things that sentences name, and how they are related."""
