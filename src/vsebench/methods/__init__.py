"""The methods of the benchmark; `methods.base.load_method` loads a method by its name."""
