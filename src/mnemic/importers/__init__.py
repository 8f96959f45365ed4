"""EXPORTS OF OTHER PRODUCTS: one module for each format, offered to `mnemic import` as its `IMPORTER`.

To add a format, write a module with an `IMPORTER` (see `importer_interface`; `whatsapp` is a short example), and add
its line to the entry points `mnemic.importers` in `pyproject.toml`.
"""
