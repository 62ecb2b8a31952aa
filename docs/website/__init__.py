"""The documentation site: `make site`, or `python -m docs.website` with the extras notebooks and site installed.

Pages are staged as Markdown below build/site-work (documents, tutorials, reference), and MkDocs with the theme Material
makes HTML of them in build/site. Nothing of it is kept in git.
"""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
