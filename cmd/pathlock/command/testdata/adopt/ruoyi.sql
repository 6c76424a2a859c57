-- fsck: --table sys_dept --key dept_id --single-tree departments --name= --path= --id-path
--   ancestors --id-path-form parent:0,*,* --deleted del_flag
-- fsck: --table sys_menu --key menu_id --single-tree menus --name= --path= --id-path + --deleted=
CREATE TABLE sys_dept (dept_id BIGINT NOT NULL PRIMARY KEY, parent_id BIGINT DEFAULT 0, ancestors VARCHAR(50) DEFAULT '', dept_name VARCHAR(30) DEFAULT '', order_num INTEGER DEFAULT 0, leader VARCHAR(20), phone VARCHAR(11), email VARCHAR(50), status CHAR(1) DEFAULT '0', del_flag CHAR(1) DEFAULT '0', create_by VARCHAR(64) DEFAULT '', create_time TIMESTAMP NULL, update_by VARCHAR(64) DEFAULT '', update_time TIMESTAMP NULL);
INSERT INTO sys_dept VALUES
  (100, 0, '0', 'Mill', 0, 'ida', '5550200', 'ida@mill.example', '0', '0', 'admin', '2024-05-01 09:00:00', '', NULL),
  (101, 100, '0,100', 'Upper mill', 1, 'joe', '5550201', 'joe@mill.example', '0', '0', 'admin', '2024-05-01 09:00:00', '', NULL),
  (102, 100, '0,100', 'Lower mill', 2, 'kim', '5550202', 'kim@mill.example', '0', '0', 'admin', '2024-05-01 09:00:00', '', NULL),
  (103, 101, '0,100,101', 'Grinding', 1, 'lou', '5550203', '', '1', '0', 'admin', '2024-05-01 09:00:00', 'ida', '2024-06-01 09:00:00'),
  (104, 101, '0,100,101', 'Sifting', 2, 'max', '', '', '0', '0', 'ida', '2024-05-01 09:00:00', '', NULL),
  (105, 102, '0,100,102', 'Sifting', 1, 'nia', '', '', '0', '0', 'admin', '2024-05-01 09:00:00', '', NULL),
  (106, 103, '0,100,101,103', 'Stones', 1, 'ole', '', '', '0', '0', 'joe', '2024-05-01 09:00:00', '', NULL),
  (107, 103, '0,100,101,103', 'Gears', 2, 'pam', '', '', '1', '0', 'joe', '2024-05-01 09:00:00', '', NULL),
  (108, 102, '0,100,102', 'Bags', 2, 'quin', '', '', '0', '0', 'admin', '2024-05-01 09:00:00', '', NULL),
  (109, 102, '0,100,102', 'Barges', 3, 'roy', '', '', '0', '2', 'admin', '2024-05-01 09:00:00', 'admin', '2024-07-01 09:00:00'),
  (110, 105, '0,100,102,105', 'Night sifting', 1, '', '', '', '0', '0', 'kim', '2024-05-02 09:00:00', '', NULL);
CREATE TABLE sys_menu (menu_id BIGINT NOT NULL PRIMARY KEY, menu_name VARCHAR(50) NOT NULL, parent_id BIGINT DEFAULT 0, order_num INTEGER DEFAULT 0, path VARCHAR(200) DEFAULT '', component VARCHAR(255), query VARCHAR(255), is_frame INTEGER DEFAULT 1, is_cache INTEGER DEFAULT 0, menu_type CHAR(1) DEFAULT '', visible CHAR(1) DEFAULT '0', status CHAR(1) DEFAULT '0', perms VARCHAR(100), icon VARCHAR(100) DEFAULT '#', create_by VARCHAR(64) DEFAULT '', create_time TIMESTAMP NULL, remark VARCHAR(500) DEFAULT '');
INSERT INTO sys_menu VALUES
  (1, 'System', 0, 1, 'system', NULL, '', 1, 0, 'M', '0', '0', '', 'system', 'admin', '2024-05-01 09:00:00', 'the system'),
  (2, 'Monitor', 0, 2, 'monitor', NULL, '', 1, 0, 'M', '0', '0', '', 'monitor', 'admin', '2024-05-01 09:00:00', ''),
  (100, 'Users', 1, 1, 'user', 'system/user/index', '', 1, 0, 'C', '0', '0', 'system:user:list', 'user', 'admin', '2024-05-01 09:00:00', ''),
  (101, 'Roles', 1, 2, 'role', 'system/role/index', '', 1, 1, 'C', '0', '0', 'system:role:list', 'peoples', 'admin', '2024-05-01 09:00:00', ''),
  (108, 'Logs', 1, 9, 'log', '', '', 1, 0, 'M', '0', '1', '', 'log', 'ida', '2024-05-01 09:00:00', 'all logs'),
  (109, 'Online', 2, 1, 'online', 'monitor/online/index', '', 1, 0, 'C', '1', '0', 'monitor:online:list', 'online', 'ida', '2024-05-01 09:00:00', ''),
  (500, 'Operations', 108, 1, 'operlog', 'monitor/operlog/index', '', 1, 0, 'C', '0', '0', 'monitor:operlog:list', 'form', 'admin', '2024-05-01 09:00:00', ''),
  (501, 'Logins', 108, 2, 'logininfor', 'monitor/logininfor/index', '', 1, 0, 'C', '0', '0', 'monitor:logininfor:list', 'logininfor', 'admin', '2024-05-01 09:00:00', ''),
  (1000, 'Ask for users', 100, 1, '', '', '', 1, 0, 'F', '0', '0', 'system:user:query', '#', 'admin', '2024-05-01 09:00:00', ''),
  (1001, 'Add a user', 100, 2, '', '', '', 1, 0, 'F', '0', '0', 'system:user:add', '#', 'admin', '2024-05-01 09:00:00', ''),
  (1002, 'Delete logs', 500, 1, '#', '', '', 1, 1, 'F', '0', '0', 'monitor:operlog:remove', '#', 'admin', '2024-05-01 09:00:00', '');
CREATE TABLE sys_user (user_id BIGINT NOT NULL PRIMARY KEY, dept_id BIGINT, user_name VARCHAR(30) NOT NULL, nick_name VARCHAR(30) NOT NULL, status CHAR(1) DEFAULT '0', del_flag CHAR(1) DEFAULT '0', create_time TIMESTAMP NULL);
INSERT INTO sys_user VALUES (1, 103, 'admin', 'admin', '0', '0', NULL), (2, 105, 'ry', 'ry', '0', '0', NULL), (100, 100, 'ida', 'Ida', '0', '0', NULL);
