"""Modules that all other modules may import and that cannot change a result.

They handle errors, files, processes and tasks, and describe the machine.
"""
