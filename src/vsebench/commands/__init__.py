"""Commands that a user calls, as opposed to the stages of the workflow."""
