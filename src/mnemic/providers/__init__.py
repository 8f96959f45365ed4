"""Language models and embedders behind the ports `Completer` and `Embedder`. Libraries are imported at first use."""
