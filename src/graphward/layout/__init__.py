"""A file that holds a whole model to a package of parts: read what it defines, sort it, write the parts, prove them."""
