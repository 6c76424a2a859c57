-- changes counts the changes of a plan's tree, for those who watch it.
ALTER TABLE plans ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
