"""The types of the configuration files of runs, data sets and methods."""
