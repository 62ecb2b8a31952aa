"""Mistakes as lessons: recognised after a cell, explained in one sentence, with a fix where one is certain."""
