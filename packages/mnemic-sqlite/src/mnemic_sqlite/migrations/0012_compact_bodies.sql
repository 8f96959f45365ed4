-- From here on a body may leave out links that are empty and the time of a change that is that of its creation. Rows of before
-- stay as they are; the number of this step keeps programs out that would take such a body for a damaged one.
SELECT 1;
