-- Plans. SQLite's default collation, BINARY, tells all names apart.
CREATE TABLE plans (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT    NOT NULL,
  name    TEXT    NOT NULL,
  root_id INTEGER NOT NULL
);

CREATE UNIQUE INDEX plans_name ON plans (project, name);
