"""Tensor methods that PyNative and Graph Mode take differently (GW11x)."""
