"""EXPORTS OF OTHER PRODUCTS: one module for each format, with its `IMPORTER`; `conversation_files` reads them all.

To add a format, write a module with an `IMPORTER` (see `importer_interface`; `whatsapp` is a short example), and add
its line to the table of `conversation_files`.
"""
