"""What was the result? Reports as plain data, rendered to HTML, text and JSON."""

from headrank.reports.contents import Summary
from headrank.reports.html import render_html, render_monitor_html
from headrank.reports.json import render_json, render_monitor_json
from headrank.reports.monitor import MonitorSummary, monitor_summary
from headrank.reports.summary import summarize
from headrank.reports.text import render_brief, render_short, render_text

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
