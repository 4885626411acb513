"""What pages need after they have been read, so that their sources stay plain Markdown and plain docstrings."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

import headrank


def _target_of(code: str) -> str | None:
    """Return the full name of what a piece of code names, such as hr.band or AUC, else None."""
    name = code.partition("(")[0]
    if name.startswith("hr."):
        return f"headrank.{name[3:]}"
    if name.startswith("headrank."):
        return name
    # A bare word in lower case may be anything: measure, band, path.
    return f"headrank.{name}" if name in headrank.__all__ and name != name.lower() else None


def _link_names(app: Any, doctree: nodes.document) -> None:
    """Make names in code type links to the reference."""
    for literal in list(doctree.findall(nodes.literal)):
        target = _target_of(literal.astext())
        if target is None or isinstance(literal.parent, nodes.reference | pending_xref):
            continue
        options = {"refdomain": "py", "reftype": "obj", "refexplicit": True, "refwarn": False}
        literal.replace_self(pending_xref("", literal.deepcopy(), reftarget=target, refdoc=app.env.docname, **options))


def _unlink_measures(_app: Any, doctree: nodes.document) -> None:
    """Undo what docutils does to "pauc@0.1", which it takes for an e-mail address."""
    for reference in list(doctree.findall(nodes.reference)):
        if reference.get("refuri", "").startswith("mailto:"):
            reference.replace_self(reference.children)


def _trim_examples(_app: Any, doctree: nodes.document) -> None:
    """Leave out the empty line that ends an example in Markdown, without which doctest would not see its end."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "pycon":
            block.rawsource = block.astext().rstrip()  # Sphinx colours only what equals its source
            block.children = [nodes.Text(block.rawsource)]


def setup(app: Any) -> dict[str, bool]:
    """Tidy each page after it has been read."""
    for tidy in (_link_names, _unlink_measures, _trim_examples):
        app.connect("doctree-read", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
