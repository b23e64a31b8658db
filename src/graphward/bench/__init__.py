"""Measurements, each in fresh processes under the user's interpreter."""
