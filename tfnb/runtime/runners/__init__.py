"""Runners of the stages of a plan: interpreted, compiled, host calls, loops, merges, GPU."""
