"""How many of the modules that the compiler rejects, interprets or computes differently a rewrite heals."""
