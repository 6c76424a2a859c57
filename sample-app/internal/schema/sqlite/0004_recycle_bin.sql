-- The recycle bin: an item is what one request deleted, its nodes are the rows that went with it.
CREATE TABLE recycled_items (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id    INTEGER  NOT NULL,
  kind       TEXT     NOT NULL,
  node_id    INTEGER  NOT NULL,
  parent_id  INTEGER  NOT NULL,
  name       TEXT     NOT NULL,
  path       TEXT     NOT NULL,
  suites     INTEGER  NOT NULL,
  cases      INTEGER  NOT NULL,
  deleted_at DATETIME NOT NULL
);

CREATE INDEX recycled_items_plan ON recycled_items (plan_id);

CREATE TABLE recycled_nodes (
  item_id INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  node_id INTEGER NOT NULL,
  PRIMARY KEY (item_id, kind, node_id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX recycled_nodes_node ON recycled_nodes (kind, node_id);
