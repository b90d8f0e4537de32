"""Ours against what one would write or use instead, as ratios of one run: ``python -m tests.benchmarks``.

Each benchmark is a module with ``measure(short: bool) -> list[Row]``; ``short`` only proves that it runs.
"""
