"""A run as JUnit XML, which continuous integration reads. No words of any document."""

from xml.etree import ElementTree as Xml

from evaluation.models import EvalRun
from evaluation.selectors import failure_kinds


def junit(run: EvalRun) -> bytes:
    results = list(run.results.select_related("case").order_by("case__key", "variant", "repeat"))
    suite = Xml.Element(
        "testsuite",
        name="precept evaluation",
        tests=str(len(results)),
        failures=str(sum(not result.passed for result in results)),
        time=f"{sum(result.answer_ms for result in results) / 1000:.3f}",
    )
    for result in results:
        case = Xml.SubElement(
            suite,
            "testcase",
            classname=f"{result.variant}.{result.kind or 'case'}",
            name=result.case.key if result.repeat == 1 else f"{result.case.key} ({result.repeat})",
            time=f"{result.answer_ms / 1000:.3f}",
        )
        if not result.passed:
            why = failure_kinds(result)
            kind = "violation" if result.violations else "failure"
            Xml.SubElement(case, "failure", type=kind, message="; ".join(why))
    return Xml.tostring(suite, encoding="utf-8", xml_declaration=True)
