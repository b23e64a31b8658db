"""Codemods for what is compiled together: monolithic graphs, repeated layers, module layout, probes."""
