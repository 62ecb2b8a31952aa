"""Reference and resource variables: assignments, sparse updates, optimizer steps."""
