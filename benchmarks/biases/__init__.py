"""Opt-AUC and WARP with a bias per label, as in third-party packages; only the benchmarks use them."""
