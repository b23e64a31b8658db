"""Measurements that run under the user's interpreter."""
