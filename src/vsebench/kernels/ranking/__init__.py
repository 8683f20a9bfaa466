"""Kernels that rank labels, and that search for the nearest images."""
