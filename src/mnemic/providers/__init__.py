"""Language models and embedders that implement the ports `Completer` and `Embedder`. Libraries are imported at first
use.
"""
