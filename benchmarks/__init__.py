"""Measurements that keep Graphward honest about its speed."""
