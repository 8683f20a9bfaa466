"""Tests of claims, in families: classes derived from `papers.claim.ClaimTest`, found by their names.

A claim's key `test` is the name of a class: `time_of_epoch` is the class `TimeOfEpoch`. There is no list of them.
"""
