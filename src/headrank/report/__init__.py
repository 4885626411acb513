"""What was the result? Reports as plain data, rendered to HTML, text and JSON."""

from headrank.report.contents import Summary
from headrank.report.html import render_html, render_monitor_html
from headrank.report.json import render_json, render_monitor_json
from headrank.report.monitor import MonitorSummary, monitor_summary
from headrank.report.summary import summarize
from headrank.report.text import render_brief, render_short, render_text

__all__ = [
    "MonitorSummary",
    "Summary",
    "monitor_summary",
    "render_brief",
    "render_html",
    "render_json",
    "render_monitor_html",
    "render_monitor_json",
    "render_short",
    "render_text",
    "summarize",
]
