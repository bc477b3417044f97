"""The pages of what ``reticent locate`` finds."""
