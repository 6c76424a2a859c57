-- databases: postgres
-- fsck: --table cats --single-tree cats --parent + --deleted=
-- fsck: --table docs --single-tree docs --parent + --path-form parent:/*/* --deleted=
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE cats (id VARCHAR(32) PRIMARY KEY, name VARCHAR(60) COLLATE loose NOT NULL, path VARCHAR(300) COLLATE loose NOT NULL);
INSERT INTO cats VALUES
  ('k1', 'a', '/a'), ('k2', 'b', '/a/b'), ('k3', 'c', '/a/b/c'), ('k4', 'd', '/a/d'), ('k5', 'e', '/a/d/e'), ('k6', 'f', '/f'), ('k7', 'g', '/f/g'), ('k8', 'h', '/f/g/h'), ('k9', 'i', '/f/i'), ('k10', 'j', '/a/b/c/j');
CREATE COLLATION ours (provider = icu, locale = 'und');
CREATE TABLE docs (id VARCHAR(32) PRIMARY KEY, name VARCHAR(60) COLLATE "POSIX" NOT NULL, path VARCHAR(300) COLLATE ours NOT NULL);
INSERT INTO docs VALUES
  ('k1', 'a', ''), ('k2', 'b', '/a'), ('k3', 'c', '/a/b'), ('k4', 'd', '/a'), ('k5', 'e', '/a/d'), ('k6', 'f', ''), ('k7', 'g', '/f'), ('k8', 'h', '/f/g'), ('k9', 'i', '/f'), ('k10', 'j', '/a/b/c');
