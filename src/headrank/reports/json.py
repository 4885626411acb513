"""result.json and monitor.json: the machine-readable reports."""

import json
from dataclasses import asdict

from headrank.reports.contents import Summary
from headrank.reports.monitor import MonitorSummary

_DRAWN = ("roc", "histogram", "control", "no_control", "gains", "precision_recall")
"""Parts that only the figures need."""


def render_json(summary: Summary) -> str:
    """Return the summary as JSON, without the data of the figures. Same summary, same bytes.

    The keys are the fields of `Summary` and its parts, in order; numbers have full precision. ``schema`` is the version
    of the layout: it is incremented when a field changes its name or meaning, but not when a field is added.
    """
    fields = {name: value for name, value in asdict(summary).items() if name not in _DRAWN}
    fields["reproduce"]["versions"] = dict(summary.reproduce.versions)
    return json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def render_monitor_json(summary: MonitorSummary) -> str:
    """Return the report of ``headrank monitor`` as JSON, laid out as in `render_json`."""
    return json.dumps(asdict(summary), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
