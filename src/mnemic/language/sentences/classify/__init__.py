"""Small classifier of statements: the probability that a sentence is worth storing, and its class.

`classifier` turns a sentence into numbers and weighs them with trained weights. `training/keeping/train.py` of
this repository makes the weights from sentences generated from frames; no word list decides.
"""
