"""`python -m offline_eval` is the same program as `offline-eval`."""

from offline_eval.cli.main import main

if __name__ == "__main__":
    main()
