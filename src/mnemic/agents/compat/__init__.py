"""Facades with the signatures of other memories, so that a program moves by changing one import."""
