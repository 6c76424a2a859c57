-- Fails, with error 1690 in every SQL mode, unless the statement before has changed one row. What
-- follows in the same text is not run then. Arguments: none.
SELECT 18446744073709551615 + (ROW_COUNT() <> 1)
