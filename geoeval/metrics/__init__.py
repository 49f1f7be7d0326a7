"""Numbers from scores: overlap, classification, refusal, intervals."""
