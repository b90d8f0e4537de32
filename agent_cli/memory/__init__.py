"""What is remembered: conversations on disk, what of them is sent, and records of turns."""
