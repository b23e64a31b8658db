"""The full-screen review, drawn with Textual, which nothing else of Graphward needs."""
