"""What everything imports and what cannot change a number: errors, files, configuration, workers, machine."""
