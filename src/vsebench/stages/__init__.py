"""The stages of the workflow, one module each: only they know the command line and where files lie."""
