"""Modules that all others may import and that cannot change a result: errors, tasks, files, processes, the machine."""
