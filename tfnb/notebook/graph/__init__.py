"""Drawings of graphs: reading, hierarchy, SVG, the view."""
