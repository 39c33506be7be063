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
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "SKILL.md"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"  # fit() fits beside a page, OneClusterPCM.fit() does not

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("typicality",),
    "subsection_order": [
        f"../examples/{topic}"
        for topic in ("clusters", "outliers", "density", "kernels", "tables", "large")
    ],
    "image_srcset": ["2x"],
    "capture_repr": (),  # examples print what they want to show
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # pages do not change with the speed of a machine
    "min_reported_time": 600,
}

html_theme = "pydata_sphinx_theme"
html_title = f"typicality {release}"
html_theme_options = {"secondary_sidebar_items": ["page-toc"], "show_prev_next": False}
html_show_sourcelink = False
html_static_path = ["_css"]
html_extra_path = ["llms.txt", "SKILL.md"]
html_css_files = ["pages.css"]
# Pages without pages below them have nothing to show beside them.
html_sidebars = {
    page: []
    for page in (
        "architecture", "changelog", "cli", "contributing", "extending", "faq", "first_minutes",
        "genindex", "glossary", "index", "messages", "messy_files", "plots",
        "py-modindex", "references", "search",
    )
}  # fmt: skip


def escape_attribute_names(app, what, name, obj, options, lines):
    """In the type of an attribute, `(n_iter_,)` is a name and not a reference."""
    for i, line in enumerate(lines):
        attribute, colon, kind = line.partition(" : ")
        if colon and attribute.endswith("_"):
            lines[i] = attribute + colon + re.sub(r"(?<=\w)_(?!\w)", r"\\_", kind)


def skip_fields(app, what, name, obj, skip, options):
    """The fields of a named tuple are among its parameters already."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def setup(app):
    """Run before numpydoc does."""
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-docstring", escape_attribute_names, priority=100)
