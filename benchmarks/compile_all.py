"""Compile kernels of methods, or load them from the cache, on one core; print the number of compiled functions.

`python -m benchmarks.compile_all '{"method": ["module", {settings}], ...}'`
"""

import json
import os
import sys

from vsebench.stages.compile import draw_tiny, functions_compiled, rank_tiny, train_tiny

if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    methods = json.loads(sys.argv[1])
    for module, settings in methods.values():
        train_tiny(module, settings)
    if len(methods) > 1:  # a cold start, which compiles all kernels
        rank_tiny()
        draw_tiny()
    print(functions_compiled())
