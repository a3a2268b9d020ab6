"""Files as organisers have them: in folders, in archives, in archives inside archives; and tables of any dialect."""
