"""Signals: Fourier transforms, frames and windows, spectra of sounds."""
