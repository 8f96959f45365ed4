-- From here on a body may leave out links that are empty and the time of a change that is that of its creation. Rows of before
-- stay as they are; the number of this step keeps programs out that would take such a body for a damaged one.
--
-- Quoted phrases are looked for in the search data of the memories that have all their words: the order of a text's words is
-- there, so a full-text table beside it is a copy.
DROP TABLE phrase;
