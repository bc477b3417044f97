"""Signals: what an attacker sees of a model: logits, and margins of fixed augmented queries."""
