"""Commands of a person, apart from the stages of the workflow."""
