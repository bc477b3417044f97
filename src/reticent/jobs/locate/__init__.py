"""Where the leak is, as jobs: in which weights, at which depth, in which records."""
