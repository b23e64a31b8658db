"""Host values in graph code: NumPy on Tensors, `.asnumpy()`, Tensors made from host data."""
