"""What was the result? Reports as plain data, rendered to HTML, text and JSON."""

from headrank.reports.contents import Summary
from headrank.reports.html import render_html
from headrank.reports.json import render_json
from headrank.reports.summary import summarize
from headrank.reports.text import render_brief, render_text

__all__ = ["Summary", "render_brief", "render_html", "render_json", "render_text", "summarize"]
