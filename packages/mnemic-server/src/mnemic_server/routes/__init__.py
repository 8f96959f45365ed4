"""Routers of the REST API, mostly one module for each resource.

To add an operation, write it in the module of its resource: the first sentence of its docstring is its summary. A new
module is also named in `_PARTS` of `app`.
"""
