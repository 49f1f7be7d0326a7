"""Thin adapters to evaluation harnesses; each imports its harness only inside functions."""
