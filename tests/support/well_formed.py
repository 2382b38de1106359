"""Small good inputs of every kind, in Chinese and English: what is malformed, and what stands beside it."""

CASES = [
    {"id": "a", "query": "年假有几天？", "language": "zh", "query_type": "factual", "reference": "15天。",
     "key_points": ["15天"], "relevant_passages": {"p1": 2}, "relevant_documents": {"d1": 1}, "answerable": True,
     "variants": ["年假多少天"], "tags": ["hr"], "metadata": {"source": {"page": 3}}},
    {"id": "b", "query": "How many days of leave?", "reference": "28 days.", "answerable": True},
    {"id": "c", "query": "Who won in 1999?", "answerable": False},
]  # fmt: skip
RESPONSES = [
    {"case_id": "a", "system": "s", "answer": "15天。", "passages": [{"id": "p1", "text": "年假为15天。", "score": 1.5,
     "doc_id": "d1", "metadata": {"k": [1]}}], "citations": ["p1"], "rankings": {"bm25": ["p1"]}, "feedback": 1},
    {"case_id": "b", "system": "s", "attempt": 1, "answer": "You get 28 days [1].", "passages": [{"id": "x", "text":
     "28 days a year."}], "metadata": {"ms": 12.5}},
    {"case_id": "c", "system": "s", "answer": "The documents do not say."},
]  # fmt: skip
ROWS = [{"question": c["query"], "contexts": ["年假为15天。"], "answer": "15天。", "ground_truth": "x"} for c in CASES]
CORPUS = [{"id": f"p{n}", "title": "假期 leave", "text": f"年假为{n}天。 {n} days.", "doc_id": "d"} for n in range(4)]
PAIRS = [
    {"premise": f"年假为{n}天。", "hypothesis": f"{n} days", "label": ["entailment", "neutral"][n % 2]}
    for n in range(8)
]
QRELS = "a 0 p1 2\na 0 p2 0\nb 0 p0 1\nc 0 p3 1\n"
TREC_RUN = "a Q0 p1 1 3.5 tag\na Q0 p2 2 1.25 tag\nb Q0 p3 1 2 tag\nb Q0 p0 2 1 tag\nz Q0 p0 1 1 tag\n"
TREC_DOCS = "<DOC>\n<DOCNO>p1</DOCNO>\n<TITLE>leave</TITLE>\n<TEXT>\n15 days &amp; more\n</TEXT>\n</DOC>\n" * 2
MAPPING = """url: http://127.0.0.1:9/ask
name: live
request: {question: '{query}'}
response:
  answer: data.answer
  passages: data.docs
  passage: {id: doc_id, text: content}
timeout_s: 1
concurrency: 2
"""
GATES = """gates:
  - {metric: total_grade, at_least: 1.5}
  - metric: faithfulness_grade
    at_least: 1.0
    use: value
    slice: language=zh
    case_at_least: 2
"""
LABELS = [
    {"id": f"l{n}", "kind": "binary", "dimension": "faithfulness", "query": f"q{n}", "answer": f"a{n} 天",
     "cluster": "c", "passages": [{"id": "p", "text": "年假"}], "labels": {"r1": n % 2, "r2": 1},
     "slices": {"set": "x"}, "response_key": "s/a", "language": "zh"}
    for n in range(6)
]  # fmt: skip
FEEDBACK = [{"case_id": "a", "system": "s", "feedback": 1}, {"case_id": "b", "feedback": -1}]
CSV = 'id,query,answer,contexts,reference\na,年假？,15天,"[""年假为15天。""]",15\nb,Leave?,28,"[""28 days""]",28\n'
