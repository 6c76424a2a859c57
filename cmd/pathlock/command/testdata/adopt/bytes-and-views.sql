-- databases: postgres
-- fsck: --table albums --single-tree albums --deleted=
-- fsck: --table assets --single-tree assets --parent parent --name file --path dir
--   --path-form parent:*/*/ --deleted=
-- fsck: --table crm.folders --single-tree folders --deleted=
CREATE TABLE albums (id BYTEA NOT NULL PRIMARY KEY, parent_id BYTEA, name VARCHAR(100) NOT NULL, path VARCHAR(500) NOT NULL, depth INTEGER GENERATED ALWAYS AS (LENGTH(path) - LENGTH(REPLACE(path, '/', ''))) STORED);
INSERT INTO albums (id, parent_id, name, path) VALUES
  ('\x8001', NULL, 'a', '/a'), ('\x8002', '\x8001', 'b', '/a/b'), ('\x8003', '\x8002', 'c', '/a/b/c'), ('\x8004', '\x8001', 'd', '/a/d'), ('\x8005', '\x8004', 'e', '/a/d/e'),
  ('\x8006', '\x8005', 'f', '/a/d/e/f'), ('\x8007', NULL, 'g', '/g'), ('\x8008', '\x8007', 'h', '/g/h');
CREATE VIEW shown AS SELECT name, path FROM albums;
CREATE TABLE assets (id BYTEA NOT NULL PRIMARY KEY, parent BYTEA, file VARCHAR(100) NOT NULL, dir VARCHAR(500) NOT NULL);
INSERT INTO assets VALUES
  ('\x8001', NULL, 'a', ''), ('\x8002', '\x8001', 'b', 'a/'), ('\x8003', '\x8002', 'c', 'a/b/'), ('\x8004', '\x8001', 'd', 'a/'), ('\x8005', '\x8004', 'e', 'a/d/'),
  ('\x8006', '\x8005', 'f', 'a/d/e/'), ('\x8007', NULL, 'g', ''), ('\x8008', '\x8007', 'h', 'g/');
CREATE VIEW listed AS SELECT dir FROM assets;
CREATE SCHEMA crm;
CREATE TABLE crm.folders (id BIGINT NOT NULL PRIMARY KEY, parent_id BIGINT, name VARCHAR(100) NOT NULL, path VARCHAR(500) NOT NULL, "with.dot" TEXT);
INSERT INTO crm.folders VALUES (1, NULL, 'a', '/a'), (2, 1, 'b', '/a/b'), (3, 2, 'c', '/a/b/c'), (4, NULL, 'd', '/d'), (5, 4, 'e', '/d/e'), (6, 5, 'f', '/d/e/f'), (7, 4, 'g', '/d/g'), (8, 7, 'h', '/d/g/h');
