"""Where the leak is: in which weights, and at which depth of a network."""
