"""TIME PASSES: forgetting, export, expiry."""
