"""FILES OF BENCHMARKS as conversations: one module for each, offered to `mnemic import` as its `IMPORTER`."""
