"""Gates as JUnit XML, the form in which CI servers show tests: one test case a gate and system."""

import re
from xml.etree import ElementTree

from offline_eval.core.gate import GateReport, GateResult
from offline_eval.report.gates import required_text, why_text
from offline_eval.report.html_texts import Words
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.visible import visible

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: GateReport) -> str:
    """The report as one test suite in English; a gate that did not pass is a failure with its reason.

    Times are left out: they are no property of the numbers.
    """
    t = Words("en")
    failures = sum(result.outcome != "passed" for result in report.results)
    counts = {"tests": str(len(report.results)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "offline-eval", **counts})
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": f"gates of run {report.run_id}", **counts, "skipped": "0"}
    )
    for result in report.results:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _clean(f"offline-eval.{result.system}"), "name": _clean(result.gate)}
        )
        if result.outcome != "passed":
            failure = ElementTree.SubElement(
                case, "failure", {"message": _clean(why_text(result, t) or result.outcome), "type": result.outcome}
            )
            failure.text = _clean(_measured(result, t))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode() + "\n"


def _measured(result: GateResult, t: Words) -> str:
    value = "no value" if result.value is None else f"{three(result.value)} {interval_text(result.interval)}"
    return f"{value}, {result.n} scored, {result.n_failed} failed; required: {required_text(result, t)}"


def _clean(text: str) -> str:
    """Text that XML can hold: what cannot be seen is written out, what XML forbids is gone."""
    return _NOT_XML.sub("\ufffd", visible(text))
