-- databases: mysql
-- fsck: --table bits --single-tree bits --deleted deleted
-- fsck: --table bitn --single-tree bitns --deleted is_deleted
-- fsck: --table latin --single-tree latins --path-form parent:/*/* --deleted=
-- fsck: --table kept --single-tree kepts --deleted=
-- fsck: --table depts --single-tree depts --parent 上级 --name 名 --deleted=
SET @x = 1 /*M!, system_versioning_alter_history = KEEP */;
CREATE TABLE kept (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL
  /*M!, since TIMESTAMP(6) GENERATED ALWAYS AS ROW START, until TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (since, until) */) /*M! WITH SYSTEM VERSIONING */;
INSERT INTO kept (id, parent_id, name, path) VALUES (1, NULL, 'a', '/a'), (2, 1, 'b', '/a/b'), (3, 2, 'c', '/a/b/c'), (4, 1, 'd', '/a/d'), (5, 4, 'e', '/a/d/e'), (6, NULL, 'f', '/f'), (7, 6, 'g', '/f/g'), (8, 7, 'h', '/f/g/h');
CREATE TABLE bits (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, deleted BIT(1) NOT NULL, deep GEOMETRY);
INSERT INTO bits VALUES (1, NULL, 'a', '/a', 0, NULL), (2, 1, 'b', '/a/b', 0, NULL), (3, 2, 'c', '/a/b/c', 0, NULL), (4, 1, 'd', '/a/d', 1, NULL), (5, 4, 'e', '/a/d/e', 1, NULL), (6, NULL, 'f', '/f', 0, NULL), (7, 6, 'g', '/f/g', 0, NULL), (8, 7, 'h', '/f/g/h', 0, NULL), (9, 1, 'd', '/a/d', 0, NULL);
CREATE TABLE bitn (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, is_deleted BIT(1) NULL);
INSERT INTO bitn VALUES (1, NULL, 'a', '/a', 0), (2, 1, 'b', '/a/b', 0), (3, 2, 'c', '/a/b/c', NULL), (4, 1, 'd', '/a/d', 1), (5, 4, 'e', '/a/d/e', 1), (6, NULL, 'f', '/f', 0), (7, 6, 'g', '/f/g', 0), (8, 7, 'h', '/f/g/h', 0), (9, 1, 'd', '/a/d', 0);
CREATE TABLE latin (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(255) NOT NULL, path VARCHAR(700) NOT NULL) CHARACTER SET latin1;
INSERT INTO latin VALUES (1, NULL, 'a', ''), (2, 1, 'b', '/a'), (3, 2, 'c', '/a/b'), (4, 1, 'd', '/a'), (5, 4, 'e', '/a/d'), (6, NULL, 'f', ''), (7, 6, 'g', '/f'), (8, 7, 'h', '/f/g'), (9, 8, 'i', '/f/g/h');
CREATE TABLE depts (id INTEGER PRIMARY KEY, 上级 INTEGER, 名 VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL);
INSERT INTO depts VALUES (1, NULL, 'a', '/a'), (2, 1, 'b', '/a/b'), (3, 2, 'c', '/a/b/c'), (4, 1, 'd', '/a/d'), (5, 4, 'e', '/a/d/e'), (6, NULL, 'f', '/f'), (7, 6, 'g', '/f/g'), (8, 7, 'h', '/f/g/h');
