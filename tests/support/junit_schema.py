"""The schema that CI servers ask of JUnit files, as a check without another library."""

from xml.etree import ElementTree

SUITE = {"name", "tests", "failures", "errors", "skipped"}


def check_junit(text: str) -> ElementTree.Element:
    """What CI servers' schema of JUnit files asks for: elements, their order, required attributes, counts that fit."""
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    assert root.attrib.keys() <= {"name", "tests", "failures", "errors", "disabled", "time"}
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors"} <= suite.attrib.keys() <= SUITE
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
        for case in suite:
            assert case.tag == "testcase"
            assert {"classname", "name"} <= case.attrib.keys() <= {"classname", "name", "time"}
            assert len(case) <= 1
            for child in case:
                assert child.tag in ("failure", "error", "skipped")
                assert child.attrib.keys() <= {"message", "type"}
                assert len(child) == 0
    assert int(root.attrib["tests"]) == sum(int(suite.attrib["tests"]) for suite in root)
    assert int(root.attrib["failures"]) == sum(int(suite.attrib["failures"]) for suite in root)
    return root
