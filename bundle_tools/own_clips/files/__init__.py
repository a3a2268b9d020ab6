"""Read organisers' files from folders, archives and nested archives, and tables of any dialect."""
