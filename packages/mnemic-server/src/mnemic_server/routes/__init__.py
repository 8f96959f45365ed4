"""Routers of the REST API, mostly one module for each resource.

To add an operation, write it in the module of its resource, and its line in `operation_summaries`. A new module is also
named in `_PARTS` of `app`.
"""
