"""The types of the configuration files: of a run, of a data set, and of a method."""
