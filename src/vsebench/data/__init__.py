"""The data as arrays: label matrices, features, splits, and what a method can need besides the labels."""
