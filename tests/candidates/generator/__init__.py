"""Writes random multithreaded C programs whose races are known by construction."""
