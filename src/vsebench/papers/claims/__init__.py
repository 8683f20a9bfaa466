"""Tests of claims; each module contains related tests, which are classes derived from `papers.claim.ClaimTest`.

The key `test` of a claim names the class: `time_of_epoch` stands for `TimeOfEpoch`. The classes are found in the
modules, and need not be listed anywhere. The docstring of a class states what a claim with this test says. There, "the
method" and "each rival" are the methods that the claim names.
"""
