"""Data: records, who trained on which, roles, and one file for each data set or family of them (`datasets`)."""
