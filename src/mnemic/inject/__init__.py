"""MEMORIES INTO ONE MODEL CALL: cut to the budget, render as data, check afterwards what was used."""
