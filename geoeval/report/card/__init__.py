"""``geoeval card``: results as a model card says them. Nothing is uploaded.

`entries` checks the results and gathers what all four outputs say of them: `section` (Markdown), `model_index` and
`readme` (the README and its metadata), `eval_results` (`.eval_results/*.yaml`) and `every_eval_ever`.
"""
