"""Operations on a memory file of SQLite: backup, inspection, salvage."""
