"""Training one model: the recipe, the data on the device, the loop, schedules and augmentation."""
