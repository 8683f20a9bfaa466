"""Controls and oracles, which show what the numbers of methods mean."""
