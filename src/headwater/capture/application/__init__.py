"""A watched application: its beginning, the thread that reads its tap, and its end."""
