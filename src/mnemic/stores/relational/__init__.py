"""Statements and code that SQLite and PostgreSQL share: one body of SQL in two dialects (`statements`)."""
