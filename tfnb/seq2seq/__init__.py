"""Sequences to sequences: decoders, attention, beam search, conditional random fields."""
