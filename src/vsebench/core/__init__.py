"""What every module may import, and what cannot change a result: errors, files, configuration, workers, machine."""
