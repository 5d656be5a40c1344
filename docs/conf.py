"""Configuration of the documentation site; `make docs` builds it."""

import hashlib
import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

# The examples run the command `eddi` of this environment, on one thread each.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
_paths = filter(None, [str(DOCS / "_ext"), os.environ.get("PYTHONPATH")])
os.environ["PYTHONPATH"] = os.pathsep.join(_paths)
os.environ.update(OMP_NUM_THREADS="1", COLUMNS="100")

from sphinx.application import Sphinx  # noqa: E402

from eddi import __version__  # noqa: E402

project = "EDDI"
author = "the EDDI developers"
copyright = "2026, the EDDI developers"  # Sphinx's name
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "accessibility",
    "generated_pages",
    "mathml",
    "repository_links",
]
exclude_patterns = ["_build", "_ext"]
templates_path = ["_templates"]
source_suffix = {
    ".rst": "restructuredtext",
    ".md": "myst-nb",
}  # the first one is that of generated stubs
suppress_warnings = ["config.cache"]

# Text
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
smartquotes = False  # they would change the options of commands
myst_heading_anchors = 4
default_role = "py:obj"

# Examples
nb_execution_mode = "cache"
_source = b"".join(path.read_bytes() for path in sorted((DOCS.parent / "src").rglob("*.py")))
_digest = hashlib.sha256(_source).hexdigest()[:12]  # examples run again if the code changes
nb_execution_cache_path = str(DOCS / "_build" / "executed" / _digest)
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # warnings name paths of the machine that builds the site
nb_kernel_rgx_aliases = {".*": "python3"}

# Reference
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_attr_annotations = (
    False  # in a type such as numpy.str_, the underscore would be taken for a link
)
autodoc_default_options = {"members": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# Pages
html_theme = "furo"
html_title = f"EDDI {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {"top_of_page_buttons": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def _skip_member(_app: object, _what: str, name: str, *_: object) -> bool | None:
    """Leave out the methods that scikit-learn adds to every estimator for metadata routing."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Sphinx) -> None:
    """Register what belongs to no extension."""
    app.connect("autodoc-skip-member", _skip_member)
