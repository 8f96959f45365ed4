"""The parts of which readers of files are made: records, times, speakers, files inside others; and two own formats."""
