; Nothing but a name.
source_filename = "empty.c"
