"""Building test sets: questions made from documents, checked, reviewed, versioned and free of leaks."""
