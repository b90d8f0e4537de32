"""What may run without asking, what may not run at all, and what a person decides. Pure."""
