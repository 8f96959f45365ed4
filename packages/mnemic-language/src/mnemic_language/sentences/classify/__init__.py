"""A SMALL CLASSIFIER OF STATEMENTS: is a sentence worth keeping, and as what?

`features` turns a sentence into numbers, `classifier` weighs them with trained weights. The weights are made by
`training/keeping/train.py` of this repository from sentences generated from frames; no word list decides.
"""
