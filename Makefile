# make demo   watch ResNet-50 being built in JupyterLab
# make test   everything: lint, types, unit tests, real builds, real kernels, a real browser
# make bench  ratios against peers

VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test lint check-js pytest js bench wheel clean browser

demo: $(STAMP) js
	$(BIN)/jupyter lab notebooks/resnet50.ipynb

test: lint check-js pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-js: js/node_modules
	cd js && npm run --silent check

pytest: $(STAMP) js browser
	$(BIN)/pytest

bench: $(STAMP)
	$(BIN)/python bench/callbacks.py

js: src/trtwidget/static/widget.js

src/trtwidget/static/widget.js: js/node_modules $(wildcard js/src/*)
	cd js && npm run --silent build

js/node_modules: js/package.json js/package-lock.json
	cd js && npm ci --no-audit --no-fund
	touch $@

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# The browser tests drive Debian's Chromium.
browser:
	command -v chromium >/dev/null || tools/install-chromium

wheel: $(STAMP) js
	$(BIN)/python -m build --outdir dist .

clean:
	rm -rf $(VENV) .venvs dist js/node_modules src/trtwidget/static/*.js
