"""``python -m reticent`` is the command ``reticent``."""

from reticent.cli import main

if __name__ == "__main__":
    main()
