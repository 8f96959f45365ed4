"""The write path: nine steps in three phases, one file a step."""
