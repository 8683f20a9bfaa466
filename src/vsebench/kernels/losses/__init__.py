"""Kernels of the losses of networks, with their derivatives by the scores of a batch."""
