-- fsck: --table hstgrp --key groupid --single-tree groups --parent + --name + --path name
--   --path-form */* --deleted=
CREATE TABLE hstgrp (groupid BIGINT NOT NULL PRIMARY KEY, name VARCHAR(190) NOT NULL, flags INTEGER NOT NULL DEFAULT 0, uuid VARCHAR(32) NOT NULL, type INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX a_uuid ON hstgrp (uuid);
INSERT INTO hstgrp VALUES
  (1, 'Templates', 0, '7df96b18c230490a9a0a9e2307226338', 1), (2, 'Templates/Servers', 0, 'dc579cd7a1a34222933f24f52a68bcd8', 0), (4, 'Zabbix servers', 0, '6f6799aa69e844b4b3918f779f2abf08', 0),
  (5, 'Templates/Applications', 0, 'a571c0d144b14fd4a87a9d9b2aa9fcd6', 1), (6, 'Templates/Databases', 0, '748ad4d098d447d492bb935c907f652f', 1), (7, 'Templates/Databases/SQL', 0, '748ad4d098d447d492bb935c907f6520', 1),
  (8, 'Europe/Latvia/Riga', 0, '748ad4d098d447d492bb935c907f6521', 0), (9, 'Europe', 0, '748ad4d098d447d492bb935c907f6522', 0), (10, 'Europe/Latvia', 0, '748ad4d098d447d492bb935c907f6523', 0), (11, 'Europe/Latvia/Liepāja', 0, '748ad4d098d447d492bb935c907f6524', 0);
