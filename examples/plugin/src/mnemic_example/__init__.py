"""A plug-in for mnemic with one of each kind."""
