"""Measurements and the cluster on this machine, each run by `python -m bench.NAME`; they are in no release."""
