"""THE SCORECARD: what mnemic promises, each promise as a row that runs the tests which would break it.

`python -m bench.scorecard` runs every row and writes `build/scorecard.json`; `make scorecard` and a full run are that
at two sizes. A row that did not run is a failure.
"""
