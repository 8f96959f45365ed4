"""Alias of `mnemic_eval`, of the package mnemic-eval, for one release."""

from mnemic.moved import alias

alias(__name__, "mnemic_eval", "mnemic-eval")
