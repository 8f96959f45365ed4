"""HOW WELL AND HOW FAST, measured through the engine itself: evidence recall on public conversations, and latency.

`registry.SETS` names the sets, `bench.run` times. Both return plain JSON data; `tables` renders it for people.
Nothing here decides whether a figure is good enough, and nothing is tuned while it is measured.
"""
