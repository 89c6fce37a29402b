"""The judge's half: what is asked, whether answers are right, and the smallest case that fails."""
