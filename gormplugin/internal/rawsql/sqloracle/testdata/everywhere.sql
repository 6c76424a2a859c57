UPDATE suites SET name = 'x'
"update\n\tSuites\r\nset name = 'x'"
UPDATE "suites" SET name = 'x'
UPDATE main.suites SET name = 'x'
UPDATE "main"."suites" SET name = 'x'
UPDATE a.b.suites SET name = 'x'
UPDATE suites AS s SET name = 'x'
"/* a */ -- b\n UPDATE /* c */ suites SET name = 'x'"
UPDATE others SET name = (SELECT name FROM suites LIMIT 1)
UPDATE others SET name = 'UPDATE suites SET'
UPDATE others SET suites = 1
UPDATE suites2 SET name = 'x'
UPDATE others SET name = 'x' /* UPDATE suites SET */ -- UPDATE suites SET
INSERT INTO suites (name) VALUES ('x')
INSERT INTO suites SELECT * FROM others
INSERT INTO others SELECT * FROM suites
INSERT INTO suites (id) VALUES (1) RETURNING id
INSERT INTO others (name) VALUES ('suites')
DELETE FROM suites
DELETE FROM suites WHERE id = 1
DELETE FROM main.suites WHERE id = 1
DELETE FROM others WHERE id IN (SELECT id FROM suites)
WITH a AS (SELECT 1) UPDATE suites SET name = 'x'
WITH a AS (SELECT id FROM suites) UPDATE others SET name = 'x' WHERE id IN (SELECT id FROM a)
WITH a AS (SELECT id FROM suites) SELECT * FROM a
EXPLAIN DELETE FROM suites
SELECT 1; DELETE FROM suites
SELECT ';DELETE FROM suites'
;;DELETE FROM suites;
SELECT * FROM suites WHERE name = 'DELETE FROM suites'
(SELECT id FROM suites) UNION SELECT 1
SELECT 'it''s' ; UPDATE suites SET name = 'it''s'
'
/*
--
UPDATE
INSERT INTO
ALTER TABLE suites ADD COLUMN x INT
CREATE INDEX i ON suites (name)
CREATE TRIGGER t AFTER UPDATE ON suites FOR EACH ROW SET x = 1
DROP TABLE suites
CREATE TABLE x AS SELECT * FROM suites
SELECT * FROM suites
SELECT s.name FROM suites AS s JOIN others AS o ON o.id = s.id WHERE s.path >= 1 ORDER BY s.path LIMIT 3
SELECT id FROM suites UNION ALL SELECT id FROM others
SELECT (SELECT max(id) FROM suites)
WITH s AS (SELECT id FROM suites) SELECT id FROM s
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT n FROM t, suites
SELECT count(*) FROM suites WHERE name IN (SELECT name FROM others)
SELECT CASE WHEN id = 1 THEN name ELSE path END FROM suites
SELECT replace(name, path, name) FROM suites
VALUES (1)
SELECT exists (SELECT 1 FROM suites)
