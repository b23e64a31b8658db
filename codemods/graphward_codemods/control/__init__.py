"""Control flow, statements and operators that Graph Mode refuses (GW3xx)."""
