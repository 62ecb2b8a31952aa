"""NumPy forms of hand-written ops, and the codecs of pictures and sounds."""
