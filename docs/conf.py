"""Settings of Sphinx. Nothing here needs the network, and the same sources give the same pages."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import api_pages

import headrank

project = "headrank"
author = "The headrank developers"
copyright = author  # noqa: A001 - Sphinx reads this name
version = release = headrank.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "tidy_pages",
]
exclude_patterns = ["_build", "_extensions", "gallery/GALLERY_HEADER.md", "**/sg_execution_times.rst"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
default_role = "py:obj"
highlight_language = "text"  # a fence without a language is a command line

# A class shows what its own docstrings say. What it inherits is documented where it comes from.
autodoc_typehints = "none"
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autosummary_generate = [f"{api_pages.FOLDER}/{name}" for name in api_pages.pages()]
autosummary_filename_map = api_pages.distinct_file_names()
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (440, 300),
    "doc_module": ("headrank",),
    "reference_url": {"headrank": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    # The clock would make every build another one.
    "min_reported_time": float("inf"),
    "write_computation_times": False,
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "headrank"
html_static_path = ["_static"]
html_css_files = ["headrank.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
}
# Pages that are wide, or alone in their section, need no list of their neighbours.
html_sidebars = {
    page: [] for page in ("index", "getting_started", "which_measure", "changelog", "contributing", "gallery/*")
}


def _without_archive(_app, docname, source):
    """Leave out the gallery's zip files, which hold the time at which they were made; the script itself is enough."""
    if docname.startswith("gallery/"):
        source[0] = re.sub(
            r"\n    \.\. container:: sphx-glr-download sphx-glr-download-zip\n.*?\.zip>`\n", "\n", source[0], flags=re.S
        )


def _skip_foreign(_app, _what, name, _member, _skip, _options):
    """Leave out what scikit-learn adds to its estimators, such as set_fit_request: its text points to its own pages."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app):
    """Connect what is no extension of its own."""
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("source-read", _without_archive)
