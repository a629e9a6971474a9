"""Conventions only."""


def Bad():
    """Do."""
