"""Data as arrays: label matrices, features, splits, and the other inputs that a method may need."""
