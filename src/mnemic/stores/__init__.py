"""Shared parts of the stores, and the store in memory: rows to values (`codec`), encryption, audit chain, search index,
and whole stores over ten methods (`row_store_adapter`).
"""
