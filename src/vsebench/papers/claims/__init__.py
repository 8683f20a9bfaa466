"""Tests of claims: classes derived from `papers.claim.ClaimTest`; tests with the same formula share a module.

The dictionary TESTS of a module contains its tests by name; a claim's key `test` is one of these names.
"""
