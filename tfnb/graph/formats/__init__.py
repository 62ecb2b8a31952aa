"""GraphDefs as messages: export, node names, functions inlined."""
