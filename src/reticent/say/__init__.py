"""The language: from findings to sentences, one file a kind of finding. Nothing reads a sentence back."""
