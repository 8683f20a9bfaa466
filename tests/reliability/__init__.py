"""A package, since a process that the main module starts would import a module of another name than __main__ again."""
