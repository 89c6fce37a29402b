"""Drawings: frames in, pieces of HTML or SVG out. All text from a run is escaped here, as data."""
