-- fsck: --table menus --single-tree menus --name= --path= --id-path + --depth menu_level
--   --depth-top 0 --deleted=
CREATE TABLE menus (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL, menu_level INTEGER NOT NULL, name VARCHAR(64) NOT NULL, component VARCHAR(64));
INSERT INTO menus VALUES
  (1, 0, 0, 'dashboard', 'a.vue'), (2, 0, 0, 'staff', 'b.vue'), (3, 2, 1, 'roles', 'c.vue'), (4, 2, 1, 'users', 'd.vue'), (5, 4, 2, 'leave', 'e.vue'), (6, 0, 0, 'tools', 'b.vue'), (7, 6, 1, 'logs', 'f.vue'), (8, 7, 2, 'old', 'f.vue');
CREATE TABLE gen_table (id INTEGER PRIMARY KEY, parent_menu_id INTEGER, name VARCHAR(64));
CREATE TABLE drafts (id INTEGER PRIMARY KEY, "ParentMenuID" INTEGER NOT NULL, name VARCHAR(64) NOT NULL);
INSERT INTO drafts VALUES (1, 0, 'a'), (2, 0, 'b'), (3, 0, 'c');
CREATE TABLE roles (role_id INTEGER PRIMARY KEY, role_name VARCHAR(64) NOT NULL, data_scope INTEGER NOT NULL, default_router VARCHAR(64) NOT NULL);
INSERT INTO roles VALUES (888, 'Keeper', 3, 'staff/roles'), (8881, 'Deputy', 3, 'staff/roles'), (9528, 'Tester', 3, 'staff/roles');
CREATE TABLE tiles (tile_id INTEGER PRIMARY KEY, name VARCHAR(64) NOT NULL, sort INTEGER NOT NULL, target VARCHAR(64) NOT NULL);
INSERT INTO tiles VALUES (31, 'today', 1, 'dashboard'), (32, 'people', 2, 'staff');
CREATE TABLE sys_oper_log (oper_id INTEGER PRIMARY KEY, title VARCHAR(50) NOT NULL, oper_url VARCHAR(255) NOT NULL, status CHAR(1) NOT NULL);
INSERT INTO sys_oper_log VALUES
  (1, 'add', '/api/system/dept', '0'), (2, 'add', '/api/system/dept', '0'), (3, 'edit', '/api/system/dept', '0'), (4, 'drop', '/api/system/dept/3', '0'), (5, 'drop', '/api/system/dept/2', '1'), (6, 'edit', '/api/system/dept', '0'), (7, 'drop', '/api/system/dept/2', '0'), (8, 'add', '/api/system/dept', '0');
