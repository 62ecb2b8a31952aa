"""Drawings of graphs: reading, hierarchy, layout, SVG, the view."""
