"""A module."""

ONE = 1
