# make demo    the three tasks on the bundled sample, scored
# make test    all tests and checks, in every harness
# Both set up what is missing or whose requirements changed. VLMEvalKit and inspect-ai cannot share lmms-eval's environment
# (VLMEvalKit needs torchvision, which does not import beside a CPU torch), so that each has one of its own.

VENV := .venv
PYTHON ?= python3
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test browser clean

demo: $(VENV)/.harness
	@$(VENV)/bin/lmms_eval --config yaml_configs/demo.yaml

test: $(VENV)/.dev $(VENV)-vlmevalkit/.harness $(VENV)-inspect/.harness browser
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m pytest -n 2 --dist loadfile

# torch first, so that nothing else pulls a CUDA build; the harness last and alone, see its requirements.
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

$(VENV)-vlmevalkit/.harness: PIP := $(VENV)-vlmevalkit/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
$(VENV)-vlmevalkit/.harness: constraints.txt requirements/vlmevalkit.txt setup.cfg
	@echo "setting up $(VENV)-vlmevalkit: about 2.1 GB, one to three minutes"
	@$(PYTHON) -m venv $(VENV)-vlmevalkit
	@$(PIP) torch
	@$(PIP) --no-deps ms-vlmeval torchvision
	@$(PIP) -r requirements/vlmevalkit.txt -e .
	@touch $@

$(VENV)-inspect/.harness: PIP := $(VENV)-inspect/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
$(VENV)-inspect/.harness: constraints.txt requirements/inspect.txt setup.cfg
	@echo "setting up $(VENV)-inspect: about 0.8 GB, one minute"
	@$(PYTHON) -m venv $(VENV)-inspect
	@$(PIP) -r requirements/inspect.txt -e .
	@touch $@

# The HTML report is tested in whatever Chromium is here, and CI brings one.
browser:
	@command -v chromium > /dev/null || test -z "$$CI" || (apt-get update -qq && apt-get install -y -qq chromium) > /dev/null

clean:
	rm -rf $(VENV) $(VENV)-vlmevalkit $(VENV)-inspect build dist *.egg-info results
