"""Routers of the REST API, mostly one module for each resource."""
