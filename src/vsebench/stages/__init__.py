"""The stages of the workflow, one module each: only they know the command line and the paths of files."""
