"""Which blocks each kind of document is made of: one file a kind."""
