"""Other people's files and our records, one module a format, so that no other room knows how anything is stored."""
