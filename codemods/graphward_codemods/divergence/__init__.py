"""What compiles and computes something else than PyNative: shared memory, state, names that the graph does not see."""
