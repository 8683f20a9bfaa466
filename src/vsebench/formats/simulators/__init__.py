"""Simulated data sets with known probabilities of the labels."""
