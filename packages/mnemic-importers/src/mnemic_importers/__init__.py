"""EXPORTS OF OTHER PRODUCTS: one module for each format, offered to `mnemic import` as its `IMPORTER`."""
