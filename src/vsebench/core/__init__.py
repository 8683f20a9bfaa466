"""What every module may import and what cannot change a number: errors, files, configuration, workers, machine."""
