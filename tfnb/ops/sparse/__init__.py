"""Sparse tensors: conversion and arithmetic."""
