"""THE WAYS IN: the command line."""
