"""For those who build on mnemic: contract suites for stores, and test doubles that keep tests fast and repeatable.

Nothing here is imported by the engine. The contract suites need pytest, pytest-asyncio and Hypothesis.
"""
