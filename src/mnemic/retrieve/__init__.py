"""A GOAL IN, RANKED MEMORIES OUT: plan, lists, fuse, search."""
