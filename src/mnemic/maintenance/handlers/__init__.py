"""Handlers of the requests that maintain and administer, one class for each request (`mnemic.engine.handler_table`)."""
