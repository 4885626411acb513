"""The version, for all that must not import the whole package."""

__version__ = "0.2.0"
