"""What `graphward check` costs, as a multiple of `ast.parse` on the same files in the same run."""
