"""Where the program comes from, and how text from elsewhere is read."""
