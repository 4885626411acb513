"""What was the result? Reports as plain data, rendered to HTML, text and JSON."""

from headrank.report.contents import Summary
from headrank.report.html import render_html
from headrank.report.json import render_json
from headrank.report.summary import summarize
from headrank.report.text import render_brief, render_short, render_text

__all__ = ["Summary", "render_brief", "render_html", "render_json", "render_short", "render_text", "summarize"]
