-- fsck: --table cats --single-tree cats --deleted=
CREATE TABLE cats (id VARCHAR(20) PRIMARY KEY, parent_id VARCHAR(20) NOT NULL, name VARCHAR(60) NOT NULL, path VARCHAR(300) NOT NULL);
INSERT INTO cats VALUES
  ('k1', 'k1', 'a', '/a'), ('k2', 'k1', 'b', '/a/b'), ('k3', 'k2', 'c', '/a/b/c'), ('k4', 'k1', 'd', '/a/d'), ('k5', 'k4', 'e', '/a/d/e'), ('k6', 'k6', 'f', '/f'), ('k7', 'k6', 'g', '/f/g'), ('k8', 'k7', 'h', '/f/g/h'), ('k9', 'k6', 'i', '/f/i'), ('k10', 'k3', 'j', '/a/b/c/j');
