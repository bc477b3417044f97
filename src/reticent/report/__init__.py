"""What people read: the page, the terminal, the model-card section, the files; nothing here measures anything."""
