"""The parts of `reticent compare`: who is compared, with what rows must share, their controls and folders."""
