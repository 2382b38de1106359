"""Small self-assessing pipelines with scripted encoders, sources and generators, in English and Chinese."""

from datetime import date

from offline_eval.assess.pipeline import SelfAssessingRag
from offline_eval.assess.policy import Policy
from offline_eval.assess.protocols import Encoders
from offline_eval.assess.sources import CallableGenerator, CallableRetriever
from offline_eval.core.records import Passage
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedScorer, word_share

TODAY = date(2026, 1, 1)


def said(premise, claim):
    """Entailment by words: all of the claim's words stand in the premise, or they do not."""
    share = word_share(premise, claim)
    return {"entailment": share if share == 1 else share / 4, "neutral": 0.0, "contradiction": 0.0}


def answers(query, passage):
    """A passage answers when it says one of the words that only answers have."""
    return 0.95 if any(word in passage for word in ("days", "supports", "support", "天", "支持")) else 0.05


def encoders(*, support=said, answerable=answers, embedder=None):
    return Encoders(
        support=ScriptedScorer(support),
        answerability=ScriptedScorer(answerable),
        embedder=ScriptedEmbedder() if embedder is None else embedder,
    )


def passages(*texts, **fields):
    return [Passage(id=f"p{number}", text=text, **fields) for number, text in enumerate(texts, 1)]


def finding(*rankings):
    """One retriever a list of passages."""
    return [
        CallableRetriever(lambda query, k, found=found: found, name=f"r{number}")
        for number, found in enumerate(rankings, 1)
    ]


def writing(answer):
    """A generator; `requests` holds what it was asked."""
    requests = []

    def write(request):
        requests.append(request)
        return answer(request) if callable(answer) else answer

    generator = CallableGenerator(write, name="stub")
    generator.requests = requests
    return generator


def pipeline(retrievers, generator=None, checks=None, **policy):
    policy = {"cosine_range": (0.0, 0.2), "deadline_s": 600.0} | policy  # however busy the machine is
    return SelfAssessingRag(
        retrievers, generator, checks or encoders(), Policy.model_validate(policy), today=lambda: TODAY
    )
