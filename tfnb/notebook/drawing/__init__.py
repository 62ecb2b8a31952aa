"""Parts of drawings: SVG, palette, geometry, labels of values, heat maps."""
