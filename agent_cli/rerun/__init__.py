"""A recorded turn once more: under other limits, and as a test."""
