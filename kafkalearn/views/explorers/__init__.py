"""Explorers: change a group, its keys, its commits, and look at what comes of it."""
