-- fsck: --table t_folder --single-tree folders --parent pid --parent-top 0 --deleted=
CREATE TABLE t_folder (id VARCHAR(36) PRIMARY KEY, pid VARCHAR(36) DEFAULT '0', name VARCHAR(50) NOT NULL, path VARCHAR(400) NOT NULL);
INSERT INTO t_folder VALUES
  ('k1', '0', 'a', '/a'),
  ('k2', 'k1', 'b', '/a/b'),
  ('k3', 'k2', 'c', '/a/b/c'),
  ('k4', 'k1', 'd', '/a/d'),
  ('k5', '0', 'e', '/e'),
  ('k6', 'k5', 'f', '/e/f'),
  ('k7', 'k6', 'g', '/e/f/g'),
  ('k8', 'k6', 'h', '/e/f/h'),
  ('k9', NULL, 'i', '/i'),
  ('k10', 'k9', 'j', '/i/j');
