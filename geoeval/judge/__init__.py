"""A model as judge of open answers: rubric, prompt, client, store of calls, agreement."""
