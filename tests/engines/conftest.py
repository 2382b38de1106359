"""Tiny models of all families, and the default judge where it is installed."""

from pathlib import Path

import pytest
from engine_requests import FAMILIES, tiny_spec

from offline_eval.engines.transformers import TransformersEngine
from offline_eval.models.installed import InstalledModel, find_installed
from tests.support.tiny_models import tiny_models


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Models this small are slower on two threads than on one, and much slower on a busy machine."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return tiny_models(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def engines(folders: dict[str, Path]) -> dict[str, TransformersEngine]:
    """The Transformers engine of each family, in this process."""
    return {family: TransformersEngine(tiny_spec(family, folders[family])) for family in FAMILIES}


@pytest.fixture(scope="session")
def default_judge() -> InstalledModel:
    model = find_installed("smollm2-135m-instruct")
    if model is None:
        pytest.skip("the default judge is not installed; `offline-eval models fetch smollm2-135m-instruct`")
    return model
