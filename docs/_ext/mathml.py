"""Formulas as MathML, written when the site is built: they need no script, no font and no network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

APPLIED = re.compile(r"<mo>(&ApplyFunction;</mo>\s*<m(?!o))")


def to_mathml(formula: str, *, as_block: bool) -> str:
    """MathML with a thin space between a function and an argument without parentheses, as in log p."""
    return APPLIED.sub(r'<mo rspace="0.1667em">\1', tex2mathml(formula, as_block=as_block))


def _write_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(to_mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _write_block(self: HTML5Translator, node: nodes.math_block) -> None:
    formula = to_mathml(node.astext(), as_block=True)
    self.body.append(f'<div class="formula" tabindex="0" role="group">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; `html_math_renderer` selects it."""
    app.add_html_math_renderer("mathml", (_write_inline, None), (_write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
