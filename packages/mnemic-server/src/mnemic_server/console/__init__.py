"""The console's files: ES modules and style sheets, served as they are. Nothing is built, nothing fetched elsewhere."""
