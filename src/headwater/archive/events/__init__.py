"""Events of an archive: the files and topics that they are read from, and the frames that they become."""
