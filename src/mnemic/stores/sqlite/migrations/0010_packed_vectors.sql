-- From here on a vector may be packed: a zero, then two bytes for each value, in steps of 2^-15. Rows of before stay as they
-- are; the number of this step keeps programs out that would take a packed vector for a damaged one.
SELECT 1;
