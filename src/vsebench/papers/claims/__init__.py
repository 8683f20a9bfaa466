"""Tests of claims, one module per test; a claim's key `test` names the module.

Each module has one class derived from `papers.claim.ClaimTest`. Nothing lists the tests.
"""
