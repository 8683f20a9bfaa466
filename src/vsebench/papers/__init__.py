"""The papers: their claims, their printed numbers, and checks on these."""
