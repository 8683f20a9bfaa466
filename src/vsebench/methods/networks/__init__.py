"""Networks of image features that score each label."""
