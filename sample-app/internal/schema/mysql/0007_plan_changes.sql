-- changes counts the changes of a plan's tree, for those who watch it.
--
-- This may run again where the server went away before the migration was recorded: see 0005.
SET @missing = NOT EXISTS (
  SELECT 1 FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'plans' AND COLUMN_NAME = 'changes'
);

SET @statement = IF(@missing, 'ALTER TABLE plans ADD COLUMN changes BIGINT NOT NULL DEFAULT 0', 'DO 0');

PREPARE plan_changes FROM @statement;

EXECUTE plan_changes;

DEALLOCATE PREPARE plan_changes;
