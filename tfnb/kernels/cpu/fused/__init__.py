"""Loop nests of fused groups: element-wise, rows and columns."""
