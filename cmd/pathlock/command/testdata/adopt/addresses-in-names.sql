-- fsck: --table menus --single-tree menus --name= --path= --id-path + --deleted=
-- also: buttons: without the menus
CREATE TABLE menus (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL, name VARCHAR(64) NOT NULL);
INSERT INTO menus VALUES
  (1, 0, 'home'), (2, 0, 'staff'), (3, 2, 'roles'), (4, 2, 'users'), (5, 4, 'leave'), (6, 0, 'menus.example'), (7, 1, 'news'), (8, 7, 'old');
CREATE TABLE buttons (id INTEGER PRIMARY KEY, menu_id INTEGER NOT NULL, menu_path VARCHAR(255) NOT NULL, name VARCHAR(64) NOT NULL);
INSERT INTO buttons VALUES (11, 2, 'staff', 'add'), (12, 3, 'staff.roles', 'add'), (13, 3, 'staff.roles', 'copy'), (14, 5, 'staff.users.leave', 'ask'), (15, 8, 'home.news.old', 'read');
