"""The verdict grammar and its proof: a bounded schema becomes a regular expression whose automaton has no cycle.

Constrained decoding alone does not guarantee whole objects, because a token budget can end in the middle of one.
Here the budget is derived: every token consumes at least one byte, so the longest accepted byte string plus one
end-of-text token can never be cut.
"""

import json
from functools import lru_cache

from offline_eval.core.errors import EngineError
from offline_eval.core.records import Record

_END = 256  # the end-of-text token of the byte vocabulary; bytes are 0..255


class Grammar(Record):
    """A regular language that was proved finite.

    Attributes:
        regex: What the engine enforces.
        budget: Tokens that always suffice: longest accepted string in UTF-8 bytes, plus one for end of text.
    """

    regex: str
    budget: int


def object_tail_schema(fields: dict[str, int]) -> dict[str, object]:
    """The JSON schema of an object of bounded strings.

    Args:
        fields: Name to longest value, in characters.
    """
    return {
        "type": "object",
        "properties": {name: {"type": "string", "maxLength": limit} for name, limit in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def object_tail_grammar(fields: dict[str, int]) -> Grammar:
    """The grammar of `"name":"…","name":"…"}`: an object whose opening brace was already written."""
    regex = schema_regex(object_tail_schema(fields))
    opening = r"\{"
    if not regex.startswith(opening):
        raise EngineError(f"the schema's regular expression does not begin with an opening brace: {regex[:40]!r}")
    return bounded_grammar(regex.removeprefix(opening))


def schema_regex(schema: dict[str, object]) -> str:
    """Outlines' regular expression for a schema, without any optional white space."""
    from outlines_core.json_schema import build_regex_from_schema

    return str(build_regex_from_schema(json.dumps(schema), ""))


@lru_cache(maxsize=64)
def bounded_grammar(regex: str) -> Grammar:
    """Compile a regular expression over single bytes and prove that it accepts finitely many strings.

    Args:
        regex: A regular expression in Outlines' dialect.

    Returns:
        The grammar with its budget: the length of the longest path through the automaton, plus one.

    Raises:
        EngineError: The automaton has a cycle, so some accepted string is longer than any budget.
    """
    from outlines_core import Index, Vocabulary

    index = Index(regex, Vocabulary(_END, {bytes([byte]): [byte] for byte in range(256)}))
    transitions: dict[int, dict[int, int]] = index.get_transitions()
    edges = {
        state: {target for token, target in steps.items() if token != _END} for state, steps in transitions.items()
    }
    return Grammar(regex=regex, budget=_longest_path(edges, index.get_initial_state()) + 1)


def _longest_path(edges: dict[int, set[int]], start: int) -> int:
    """Number of edges on the longest path from `start`; iterative, since paths are thousands of bytes long."""
    length: dict[int, int] = {}
    open_states: set[int] = set()
    stack = [(start, False)]
    while stack:
        state, is_left = stack.pop()
        if is_left:
            open_states.discard(state)
            length[state] = max((length[target] + 1 for target in edges.get(state, ())), default=0)
            continue
        if state in length:
            continue
        if state in open_states:
            raise EngineError("the grammar is not bounded: its automaton has a cycle; use enums and bounded strings")
        open_states.add(state)
        stack.append((state, True))
        for target in edges.get(state, ()):
            if target in open_states:
                raise EngineError(
                    "the grammar is not bounded: its automaton has a cycle; use enums and bounded strings"
                )
            if target not in length:
                stack.append((target, False))
    return length[start]
