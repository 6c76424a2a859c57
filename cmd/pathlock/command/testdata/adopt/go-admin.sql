-- fsck: --table sys_dept --key dept_id --single-tree departments --name= --path= --id-path
--   dept_path --id-path-form /0/*/*/
-- fsck: --table sys_menu --key menu_id --single-tree menus --name= --path= --id-path paths
--   --id-path-form /0/*/*
CREATE TABLE sys_dept (dept_id INTEGER PRIMARY KEY, parent_id BIGINT, dept_path VARCHAR(255), dept_name VARCHAR(128), sort SMALLINT, leader VARCHAR(128), phone VARCHAR(11), email VARCHAR(64), status SMALLINT, create_by BIGINT, update_by BIGINT, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL);
INSERT INTO sys_dept VALUES
  (1, 0, '/0/1/', 'Harbour Works', 0, 'ann', '5550101', 'ann@harbour.example', 2, 1, 1, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (7, 1, '/0/1/7/', 'Research', 1, 'bo', '5550102', 'bo@harbour.example', 2, 1, 2, '2024-02-02 08:00:00', '2024-05-01 09:10:00', NULL),
  (8, 1, '/0/1/8/', 'Operations', 0, 'cy', '5550103', 'cy@harbour.example', 2, 2, 1, '2024-02-02 08:01:00', '2024-02-02 08:01:00', NULL),
  (9, 8, '/0/1/8/9/', 'Night shift', 3, '', '', '', 1, 1, 3, '2024-02-03 08:00:00', '2024-02-03 08:00:00', NULL),
  (10, 8, '/0/1/8/10/', 'Day shift', 1, 'di', '5550104', 'di@harbour.example', 2, 3, 1, '2024-02-03 08:02:00', '2024-02-03 08:02:00', NULL),
  (11, 10, '/0/1/8/10/11/', 'Cranes', 2, 'ed', '5550105', '', 2, 1, 1, '2024-03-01 08:00:00', '2024-03-01 08:00:00', NULL),
  (12, 10, '/0/1/8/10/12/', 'Cranes', 1, 'flo', '5550106', '', 1, 2, 2, '2024-03-01 08:05:00', '2024-03-01 08:05:00', NULL),
  (13, 7, '/0/1/7/13/', 'Hulls / Keels', 1, 'gus', '', '', 2, 1, 1, '2024-03-02 08:00:00', '2024-03-02 08:00:00', NULL),
  (14, 0, '/0/14/', 'Inland Depot', 5, 'hal', '5550107', 'hal@inland.example', 2, 2, 1, '2024-04-01 08:00:00', '2024-04-01 08:00:00', NULL),
  (15, 14, '/0/14/15/', 'Trucks', 1, '', '', '', 2, 1, 1, '2024-04-02 08:00:00', '2024-04-02 08:00:00', NULL),
  (16, 14, '/0/14/16/', 'Old yard', 4, '', '', '', 1, 1, 1, '2024-04-02 09:00:00', '2024-06-02 09:00:00', '2024-06-02 09:00:00');
CREATE TABLE sys_menu (menu_id INTEGER PRIMARY KEY, menu_name VARCHAR(128), title VARCHAR(128), icon VARCHAR(128), path VARCHAR(128), paths VARCHAR(128), menu_type VARCHAR(1), action VARCHAR(16), permission VARCHAR(255), parent_id SMALLINT, no_cache BOOLEAN, breadcrumb VARCHAR(255), component VARCHAR(255), sort SMALLINT, visible VARCHAR(1), is_frame VARCHAR(1) DEFAULT '0', create_by BIGINT, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL);
INSERT INTO sys_menu VALUES
  (2, 'Admin', 'System', 'api-server', '/admin', '/0/2', 'M', '', '', 0, true, '', 'Layout', 10, '0', '1', 0, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (3, 'SysUserManage', 'Users', 'user', '/admin/sys-user', '/0/2/3', 'C', '', 'admin:user:list', 2, false, '', '/admin/sys-user/index', 10, '0', '1', 0, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (43, '', 'Add a user', 'app-group-fill', '', '/0/2/3/43', 'F', 'POST', 'admin:user:add', 3, false, '', '', 10, '0', '1', 0, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (44, '', 'Ask for users', 'app-group-fill', '', '/0/2/3/44', 'F', 'GET', 'admin:user:query', 3, false, '', '', 40, '0', '1', 0, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (51, 'SysMenuManage', 'Menus', 'tree-table', '/admin/sys-menu', '/0/2/51', 'C', '', 'admin:menu:list', 2, true, '', '/admin/sys-menu/index', 30, '0', '1', 0, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (220, '', 'Add a menu', 'app-group-fill', '', '/0/2/51/220', 'F', '', 'admin:menu:add', 51, false, '', '', 1, '0', '1', 1, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (221, '', 'Edit a menu', 'app-group-fill', '', '/0/2/51/221', 'F', '', 'admin:menu:edit', 51, false, '', '', 1, '0', '1', 1, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (60, 'Tools', 'Developer tools', 'dev-tools', '/dev-tools', '/0/60', 'M', '', '', 0, false, '', 'Layout', 40, '0', '1', 1, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (61, 'Swagger', 'Interfaces', 'guide', '/dev-tools/swagger', '/0/60/61', 'C', '', '', 60, false, '', '/dev-tools/swagger/index', 1, '0', '1', 1, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL),
  (62, 'Build', 'Form builder', 'build', '/dev-tools/build', '/0/60/62', 'C', '', '', 60, true, '', '/dev-tools/build/index', 1, '1', '1', 1, '2024-02-01 08:00:00', '2024-02-01 08:00:00', NULL);
CREATE TABLE sys_user (user_id INTEGER PRIMARY KEY, username VARCHAR(64), dept_id BIGINT, role_id BIGINT, status VARCHAR(4), created_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL);
INSERT INTO sys_user VALUES (1, 'admin', 1, 1, '2', '2024-02-01 08:00:00', NULL), (2, 'bo', 7, 2, '2', '2024-02-01 08:00:00', NULL), (3, 'ed', 11, 2, '2', '2024-02-01 08:00:00', NULL);
