"""A generator without a model: it copies the sentence that shares most words with the question, and cites its passage.

Why: a fresh machine can try and measure the whole pipeline at once, and a service without a model still answers with
words that stand in a document.
"""

from offline_eval.assess.protocols import Generated, GenerationRequest
from offline_eval.text.sentences import split_sentences
from offline_eval.text.words import content_words

NAME = "extract"


class ExtractGenerator:
    """Copies one sentence; among equals the earliest of the best-ranked passage."""

    name = NAME
    version = "1"

    def generate(self, request: GenerationRequest) -> Generated:
        """The sentence, or nothing where no passage has one."""
        wanted = set(content_words(request.query))
        best, score, source = "", -1, ""
        for passage in request.passages:
            for sentence in split_sentences(passage.text):
                shared = len(wanted & set(content_words(sentence.text)))
                if shared > score:
                    best, score, source = sentence.text.strip(), shared, passage.id
        return Generated(answer=best, citations=(source,) if source else ())
