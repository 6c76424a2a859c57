-- databases: mysql postgres
-- fsck: --table cats --single-tree cats --parent + --path-form parent:/0/*/*/ --deleted=
-- fsck: --table files --single-tree files --path-form parent:/*/* --deleted=
CREATE TABLE cats (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL, path VARCHAR(300) NOT NULL);
INSERT INTO cats VALUES
  (1, 'a', '/0/'), (2, 'b', '/0/a/'), (3, 'c', '/0/a/b/'), (4, 'd', '/0/a/'), (5, 'e', '/0/a/d/'), (6, 'f', '/0/'), (7, 'g', '/0/f/'), (8, 'h', '/0/f/g/'), (9, 'i', '/0/f/'), (10, 'j', '/0/a/b/c/');
CREATE TABLE files (id BIGINT PRIMARY KEY, parent_id BIGINT, name VARCHAR(60) NOT NULL, path VARCHAR(300) NOT NULL);
INSERT INTO files VALUES
  (1, NULL, 'a', ''), (2, 1, 'b', '/a'), (3, 2, 'c', '/a/b'), (4, NULL, 'd', ''), (5, NULL, 'e', ''), (6, NULL, 'f', ''), (7, 6, 'g', '/f'), (8, NULL, 'h', ''), (9, NULL, 'i', ''), (10, 3, 'j', '/a/b/c');
