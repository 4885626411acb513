"""What came out? A training in words, numbers and pictures: plain data first, then HTML, text and JSON from it."""

from headrank.report.contents import Summary
from headrank.report.html import render_html
from headrank.report.json import render_json
from headrank.report.summary import summarize
from headrank.report.text import render_brief, render_text

__all__ = ["Summary", "render_brief", "render_html", "render_json", "render_text", "summarize"]
