"""People and things named in sentences, and their relations."""
