"""The scalar language: primitives, definitions over single numbers, and their printed forms."""
