"""Tests of claims: classes derived from `papers.claim.ClaimTest`, those of one formula in one module.

A module names its tests in its dictionary TESTS; a claim's key `test` is one of these names. Nothing else lists them.
"""
