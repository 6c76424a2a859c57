-- databases: mysql
-- fsck: --table folders --single-tree folders --path + --deleted=
-- fsck: --table cats --single-tree cats --deleted=
-- unsupported: marks: id is bytes
CREATE TABLE folders (id BINARY(16) PRIMARY KEY, parent_id BINARY(16) NOT NULL, name VARCHAR(100) NOT NULL);
INSERT INTO folders VALUES
  (x'f47ac10b58cc4372a5670e02b2c3d401', x'00', 'a'), (x'f47ac10b58cc4372a5670e02b2c3d402', x'f47ac10b58cc4372a5670e02b2c3d401', 'b'), (x'f47ac10b58cc4372a5670e02b2c3d403', x'f47ac10b58cc4372a5670e02b2c3d402', 'c'), (x'f47ac10b58cc4372a5670e02b2c3d404', x'f47ac10b58cc4372a5670e02b2c3d401', 'd'), (x'f47ac10b58cc4372a5670e02b2c3d405', x'f47ac10b58cc4372a5670e02b2c3d404', 'e'), (x'f47ac10b58cc4372a5670e02b2c3d406', x'00', 'f'), (x'f47ac10b58cc4372a5670e02b2c3d407', x'f47ac10b58cc4372a5670e02b2c3d406', 'g'), (x'f47ac10b58cc4372a5670e02b2c3d408', x'f47ac10b58cc4372a5670e02b2c3d407', 'h'), (x'f47ac10b58cc4372a5670e02b2c3d409', x'f47ac10b58cc4372a5670e02b2c3d406', 'i'), (x'f47ac10b58cc4372a5670e02b2c3d40a', x'f47ac10b58cc4372a5670e02b2c3d403', 'j');
CREATE TABLE marks (id BINARY(16) PRIMARY KEY, parent_id BINARY(16), position INTEGER NOT NULL);
INSERT INTO marks VALUES (x'f47ac10b58cc4372a5670e02b2c3d401', NULL, 1), (x'f47ac10b58cc4372a5670e02b2c3d402', x'f47ac10b58cc4372a5670e02b2c3d401', 2), (x'f47ac10b58cc4372a5670e02b2c3d403', x'f47ac10b58cc4372a5670e02b2c3d402', 3);
CREATE TABLE cats (id BINARY(4) PRIMARY KEY, parent_id BINARY(4) NOT NULL, name VARCHAR(100) NOT NULL, path VARCHAR(300) NOT NULL);
INSERT INTO cats VALUES (x'f1000000', x'f1', 'a', '/a'), (x'f2000000', x'f1', 'b', '/a/b'), (x'f3000000', x'f2', 'c', '/a/b/c'), (x'f4000000', x'f1', 'd', '/a/d'), (x'f5000000', x'f5', 'e', '/e'), (x'f6000000', x'f5', 'f', '/e/f');
UPDATE cats SET parent_id = id WHERE name IN ('a', 'e');
