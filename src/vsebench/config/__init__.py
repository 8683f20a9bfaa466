"""What the configuration files may say: a run, a data set, a method."""
