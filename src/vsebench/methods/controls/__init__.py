"""Controls and oracles, with which the results of methods are compared."""
