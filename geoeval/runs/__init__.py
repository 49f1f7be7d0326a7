"""Saved replies of any harness -> results: reading, scoring, records, comparing."""
