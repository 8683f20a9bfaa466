"""The papers: their claims, their printed numbers, and checks of these numbers."""
