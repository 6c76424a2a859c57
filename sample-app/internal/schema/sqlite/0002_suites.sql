-- The tree. Rows in the recycle bin stay here with deleted_at set; the unique
-- index holds the names of living siblings apart and lets the dead keep theirs.
CREATE TABLE suites (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id    INTEGER  NOT NULL,
  parent_id  INTEGER  NULL,
  name       TEXT     NOT NULL,
  path       TEXT     NOT NULL,
  version    INTEGER  NOT NULL DEFAULT 1,
  deleted_at DATETIME NULL
);

CREATE UNIQUE INDEX suites_sibling ON suites (parent_id, name) WHERE deleted_at IS NULL;

CREATE INDEX suites_path ON suites (plan_id, path);
