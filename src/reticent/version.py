"""The version, in a file that every layer may import."""

VERSION = "0.1.0"
