"""result.json: the report for machines."""

import json
from dataclasses import asdict

from headrank.report.contents import Summary

_DRAWN = ("roc", "histogram", "control", "no_control")
"""Parts that only a picture needs."""


def render_json(summary: Summary) -> str:
    """Return the summary as JSON, without what is only drawn. Same summary, same bytes.

    The keys are the fields of `Summary` and of its parts, in their order, with every digit of the numbers. ``schema``
    is the number of this layout: it grows when a field changes its name or meaning; new fields may come without.
    """
    fields = {name: value for name, value in asdict(summary).items() if name not in _DRAWN}
    fields["reproduce"]["versions"] = dict(summary.reproduce.versions)
    return json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
