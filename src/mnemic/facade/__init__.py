"""THE FACES OF A PROGRAM: `MemoryManager` and its asynchronous twin."""
