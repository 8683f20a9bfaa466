"""The methods; `methods.base.load_method` finds a method by its name."""
