"""Kernels of methods that take stochastic gradient steps on pairs of a positive and a negative label."""
