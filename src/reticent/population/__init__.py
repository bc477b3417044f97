"""Population: many models by one recipe, trained, looked at and dropped, inline or in several processes."""
