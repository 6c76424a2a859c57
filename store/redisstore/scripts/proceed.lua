-- PROCEED continues where another script stopped after its portion.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- Reply '1' if it should be called again, '0' if not

open()
spare_memory()
sweep()
return finish()
