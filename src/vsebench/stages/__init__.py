"""The stages of the workflow, one module each; only stages know the command line and the paths of files."""
