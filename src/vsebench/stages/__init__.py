"""The stages of the workflow, one module each: a stage parses its options, reads its inputs and writes results."""
