"""What a class handed in: folders, archives, and the names that platforms give."""
