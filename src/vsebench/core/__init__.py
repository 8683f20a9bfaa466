"""What every other part may import, and what cannot change a result: errors, tasks, files, processes, the machine."""
