"""Alias of `mnemic_testing`, of the package mnemic-testing, for one release."""

from mnemic.moved import alias

alias(__name__, "mnemic_testing", "mnemic-testing")
