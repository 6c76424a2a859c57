-- Cases: the leaves. Their paths are computed from their suites'.
CREATE TABLE cases (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  suite_id   INTEGER  NOT NULL,
  name       TEXT     NOT NULL,
  body       TEXT     NOT NULL,
  deleted_at DATETIME NULL
);

CREATE UNIQUE INDEX cases_sibling ON cases (suite_id, name) WHERE deleted_at IS NULL;
