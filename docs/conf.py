"""Configuration of the documentation: python -m sphinx -W --keep-going docs docs/_build/html."""

import re

import typicality

project = "typicality"
author = "The typicality developers"
copyright = author
version = release = typicality.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas need no network
    "sphinxcontrib.bibtex",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"typicality {release}"
html_theme_options = {"secondary_sidebar_items": ["page-toc"], "show_prev_next": False}
html_show_sourcelink = False


def escape_attribute_names(app, what, name, obj, options, lines):
    """In the type of an attribute, `(n_iter_,)` is a name and not a reference."""
    for i, line in enumerate(lines):
        attribute, colon, kind = line.partition(" : ")
        if colon and attribute.endswith("_"):
            lines[i] = attribute + colon + re.sub(r"(?<=\w)_(?!\w)", r"\\_", kind)


def setup(app):
    """Run before numpydoc does."""
    app.connect("autodoc-process-docstring", escape_attribute_names, priority=100)
