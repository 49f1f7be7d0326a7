# make demo    the three tasks on the bundled sample, scored
# make test    all tests and checks
# Both set up .venv when it is missing or when a requirement changed.

VENV := .venv
PYTHON ?= python3
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test clean

demo: $(VENV)/.harness
	@$(VENV)/bin/lmms_eval --config yaml_configs/demo.yaml

test: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m pytest -n 2 --dist loadfile

# torch first, so that nothing else pulls a CUDA build; lmms-eval last and alone, see requirements/lmms-eval.txt.
$(VENV)/.harness: constraints.txt requirements/lmms-eval.txt setup.cfg
	@echo "setting up $(VENV): about 1.7 GB, one to three minutes"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) torch
	@$(PIP) -r requirements/lmms-eval.txt -e .
	@$(PIP) --no-deps lmms-eval
	@touch $@

$(VENV)/.dev: $(VENV)/.harness requirements/dev.txt
	@$(PIP) -r requirements/dev.txt
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info results
