"""Tests of the exercises: what each asks, and whom it lets pass."""
