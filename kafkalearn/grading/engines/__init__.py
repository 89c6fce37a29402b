"""How a submission is run: its cells, in a child of the fork server or in a Jupyter kernel."""
