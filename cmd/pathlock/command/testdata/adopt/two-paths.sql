-- fsck: --table folders --single-tree folders --id-path id_path --deleted=
-- fsck: --table units --single-tree units --deleted=
-- or: --table units --key code --single-tree units --parent parent_code --name= --path=
--   --id-path code_path --deleted=
-- fsck: --table pages --single-tree pages --parent + --deleted state --deleted-when archived
-- fsck: --table posts --single-tree posts --parent-top root --deleted=
-- fsck: --table own --single-tree owns --deleted=
CREATE TABLE folders (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, id_path VARCHAR(200) NOT NULL);
INSERT INTO folders VALUES (1, NULL, 'a', '/a', '/1'), (2, 1, 'b', '/a/b', '/1/2'), (3, 2, 'c', '/a/b/c', '/1/2/3'), (4, 1, 'd', '/a/d', '/1/4'), (5, 4, 'e', '/a/d/e', '/1/4/5'), (6, NULL, 'f', '/f', '/6'), (7, 6, 'g', '/f/g', '/6/7'), (8, 7, 'h', '/f/g/h', '/6/7/8');
CREATE TABLE units (id INTEGER PRIMARY KEY, parent_id INTEGER, code VARCHAR(9) NOT NULL UNIQUE, parent_code VARCHAR(9), name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, code_path VARCHAR(200) NOT NULL);
INSERT INTO units VALUES (1, NULL, 'u', NULL, 'a', '/a', '/u'), (2, 1, 'v', 'u', 'b', '/a/b', '/u/v'), (3, 2, 'w', 'v', 'c', '/a/b/c', '/u/v/w'), (4, 1, 'x', 'u', 'd', '/a/d', '/u/x'), (5, 4, 'y', 'x', 'e', '/a/d/e', '/u/x/y'), (6, NULL, 'p', NULL, 'f', '/f', '/p'), (7, 6, 'q', 'p', 'g', '/f/g', '/p/q'), (8, 7, 'r', 'q', 'h', '/f/g/h', '/p/q/r');
CREATE TABLE pages (id INTEGER PRIMARY KEY, name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, state VARCHAR(20) NOT NULL);
INSERT INTO pages VALUES (1, 'a', '/a', 'draft'), (2, 'b', '/a/b', 'draft'), (3, 'c', '/a/b/c', 'live'), (4, 'd', '/a/d', 'live'), (5, 'e', '/a/d/e', 'live'), (6, 'f', '/f', 'live'), (7, 'g', '/f/g', 'archived'), (8, 'h', '/f/g/h', 'archived'), (9, 'i', '/a/i', 'live'), (10, 'j', '/a/j', 'live'), (11, 'k', '/a/b/k', 'live'), (12, 'l', '/a/b/l', 'live');
CREATE TABLE posts (id VARCHAR(20) PRIMARY KEY, parent_id VARCHAR(20) NOT NULL, name VARCHAR(60) NOT NULL, path VARCHAR(300) NOT NULL);
INSERT INTO posts VALUES ('k1', 'root', 'a', '/a'), ('k2', 'k1', 'b', '/a/b'), ('k3', 'k2', 'c', '/a/b/c'), ('k4', 'k1', 'd', '/a/d'), ('k5', 'k4', 'e', '/a/d/e'), ('k6', 'root', 'f', '/f'), ('k7', 'k6', 'g', '/f/g'), ('k8', 'k7', 'h', '/f/g/h');
CREATE TABLE own (id VARCHAR(20) PRIMARY KEY, parent_id VARCHAR(20) NULL, name VARCHAR(60) NOT NULL, path VARCHAR(300) NOT NULL);
INSERT INTO own VALUES ('k1', 'k1', 'a', '/a'), ('k2', 'k1', 'b', '/a/b'), ('k3', 'k2', 'c', '/a/b/c'), ('k4', 'k1', 'd', '/a/d'), ('k5', 'k4', 'e', '/a/d/e'), ('k6', 'k6', 'f', '/f'), ('k7', 'k6', 'g', '/f/g'), ('k8', 'k7', 'h', '/f/g/h');
