"""Problems with known answers, by people who want to break the program; see `__main__`."""
