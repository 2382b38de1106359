"""`offline-eval testset`: build test sets; each subcommand is a module of its own, imported when it is called."""

import click

from offline_eval.cli.lazy_group import LazyGroup

# Subcommand to its one-line help; the module `testset_<subcommand>` provides it as `command`.
SUBCOMMANDS = {
    "generate": "Write questions, references and key points from documents, and check them.",
    "diff": "Compare two versions of a test set, field by field.",
    "leakage": "Look for questions and answers in the corpus, in examples and in training data.",
    "log": "List a test set's versions with their reasons.",
    "restore": "Write a version's cases as a file again.",
    "review": "Accept, edit or reject drafts or cases at a web page on this machine.",
    "sample": "Pick diverse real queries from logs, without personal data.",
    "stats": "Show what a test set is made of and how large a difference it can detect.",
    "validate": "Find contradictions, repeated questions and unknown ids.",
    "version": "Write a version down, with its reason.",
    "variants": "Add reworded, misspelt and lengthened variants to the questions of a set.",
}


@click.command(name="testset", cls=LazyGroup, helps=SUBCOMMANDS, prefix="testset_")
def command() -> None:
    """Build test sets from documents and logs: generated, reviewed, versioned, free of leaks."""
