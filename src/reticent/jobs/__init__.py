"""Jobs: what a command does from beginning to end, as functions that Python users call too."""
