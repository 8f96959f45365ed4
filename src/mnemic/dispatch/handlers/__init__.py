"""Handlers of the requests that add, correct and forget, one class for each request (`mnemic.engine.handler_table`)."""
