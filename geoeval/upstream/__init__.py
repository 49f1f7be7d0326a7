"""``geoeval upstream``: contributions to other projects, made of our sources, without an import of geoeval.

`vendor` cuts out what a benchmark needs, `families` says what the sources do not, the generators (`lmms_eval`,
`vlmevalkit`, `inspect_evals`) add thin adapters from `templates/`, `style` puts all into the project's format.
"""
