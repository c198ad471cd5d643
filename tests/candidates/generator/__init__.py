# SPDX-License-Identifier: Apache-2.0
"""Writes random multithreaded C programs whose races are known by construction."""
