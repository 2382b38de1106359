"""vLLM's own server, started for real with our flags, as an endpoint."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_requests import grade_request, tail_request

from offline_eval.core.errors import EngineError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import Generation
from offline_eval.engines.endpoint import EndpointEngine

pytestmark = pytest.mark.slow
_READY_LIMIT_S = 600


SERVE = """
import sys
from pathlib import Path
from offline_eval.engines.select import EngineOptions
from offline_eval.engines.serve import serve
from offline_eval.models.installed import require_installed
options = EngineOptions(context_length=2048, batch_size=8)
sys.exit(serve(require_installed(Path(sys.argv[1])), port=int(sys.argv[2]), options=options))
"""


@pytest.fixture(scope="module")
def served(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[EndpointEngine]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("served") / "log"
    command = [sys.executable, "-c", SERVE, str(folders["qwen"]), str(port)]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        try:
            yield wait_for(f"http://127.0.0.1:{port}/v1", server, log)
        finally:
            server.terminate()
            server.wait(60)


def wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> EndpointEngine:
    deadline = time.monotonic() + _READY_LIMIT_S
    while True:
        try:
            return EndpointEngine(url)
        except EngineError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"{error}\n{log.read_text('utf-8', 'replace')[-3000:]}")
            time.sleep(1)


def test_the_servers_grammar_is_found_out_and_its_masked_probabilities_are_not_used(served: EndpointEngine) -> None:
    assert served.info.guarantee is Guarantee.SERVER_SCHEMA
    assert served.info.context_length == 2048
    answers = served.generate([grade_request(f"{n} 材料") for n in range(12)])
    for answer in answers:
        assert isinstance(answer, Generation), answer
        assert answer.text in ("1", "2", "3")
        assert answer.label_logprobs is None
        assert answer.prompt_tokens > 0


def test_a_prompt_that_is_too_long_for_the_server_is_named_so(served: EndpointEngine) -> None:
    [answer] = served.generate([grade_request("word " * 4000)])
    assert answer.kind == "failure"
    assert answer.reason == "prompt_too_long"


def test_reasons_of_random_weights_under_the_servers_schema_never_become_wrong_ones(served: EndpointEngine) -> None:
    answers = served.generate([tail_request(f"{n} material", evidence=8, reason=10) for n in range(8)])
    for answer in answers:
        if isinstance(answer, Generation):
            assert answer.text.startswith('"evidence":"')
        else:
            assert answer.reason in ("cut_off", "off_menu")
