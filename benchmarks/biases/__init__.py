"""Opt-AUC and WARP with a bias per label, as other packages train them; only the benchmarks run these."""
