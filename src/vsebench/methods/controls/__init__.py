"""Controls and oracles, to compare the results of methods with."""
