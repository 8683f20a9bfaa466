"""Tests of claims, one module per family; each test is a class derived from `papers.claim.ClaimTest`.

The key `test` of a claim names the class: `time_of_epoch` stands for `TimeOfEpoch`. There is no list of the classes.
"""
