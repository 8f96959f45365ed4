"""Commands of the service, offered to `mnemic` by entry points."""
