"""Control flow: conditionals, loops, functions over rows, assertions."""
