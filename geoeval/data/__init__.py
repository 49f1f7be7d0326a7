"""Where rows come from: the bundled sample or a local folder."""
