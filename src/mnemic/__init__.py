"""mnemic: memory for AI agents that people can trust."""
