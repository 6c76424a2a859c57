-- fsck: --table menu --single-tree menus --name= --path= --id-path parent_path --id-path-form
--   parent:*.*. --deleted=
CREATE TABLE menu (id VARCHAR(20) NOT NULL PRIMARY KEY, code VARCHAR(32), name VARCHAR(128), description VARCHAR(1024), sequence BIGINT, type VARCHAR(20), path VARCHAR(255), properties TEXT, status VARCHAR(20), parent_id VARCHAR(20), parent_path VARCHAR(255), created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL);
INSERT INTO menu VALUES
  ('cqa1k0m5v9h2', 'home', 'Home', '', 9, 'page', '/home', '{"icon":"home"}', 'enabled', '', '', '2024-01-02 10:00:00', '2024-01-02 10:00:00'),
  ('cqa1k0m5v9h3', 'system', 'System', 'Settings of the system', 2, 'group', '/system', '', 'enabled', '', '', '2024-01-02 10:00:01', '2024-01-02 10:00:01'),
  ('cqa1k0m5v9h4', 'menu', 'Menu', '', 9, 'page', '/system/menu', '', 'enabled', 'cqa1k0m5v9h3', 'cqa1k0m5v9h3.', '2024-01-02 10:00:02', '2024-01-02 10:00:02'),
  ('cqa1k0m5v9h5', 'add', 'Add', '', 9, 'button', '', '', 'enabled', 'cqa1k0m5v9h4', 'cqa1k0m5v9h3.cqa1k0m5v9h4.', '2024-01-02 10:00:03', '2024-01-02 10:00:03'),
  ('cqa1k0m5v9h6', 'edit', 'Edit', '', 8, 'button', '', '', 'disabled', 'cqa1k0m5v9h4', 'cqa1k0m5v9h3.cqa1k0m5v9h4.', '2024-01-02 10:00:04', '2024-01-02 10:00:04'),
  ('cqa1k0m5v9h7', 'role', 'Role', '', 8, 'page', '/system/role', '', 'enabled', 'cqa1k0m5v9h3', 'cqa1k0m5v9h3.', '2024-01-02 10:00:05', '2024-01-02 10:00:05'),
  ('cqa1k0m5v9h8', 'add', 'Add', '', 9, 'button', '', '', 'enabled', 'cqa1k0m5v9h7', 'cqa1k0m5v9h3.cqa1k0m5v9h7.', '2024-01-02 10:00:06', '2024-01-02 10:00:06'),
  ('cqa1k0m5v9h9', 'user', 'User', '', 7, 'page', '/system/user', '', 'enabled', 'cqa1k0m5v9h3', 'cqa1k0m5v9h3.', '2024-01-02 10:00:07', '2024-01-02 10:00:07'),
  ('cqa1k0m5v9ha', 'add', 'Add', '', 9, 'button', '', '', 'enabled', 'cqa1k0m5v9h9', 'cqa1k0m5v9h3.cqa1k0m5v9h9.', '2024-01-02 10:00:08', '2024-01-02 10:00:08'),
  ('cqa1k0m5v9hb', 'logger', 'Logger', '', 1, 'page', '/logger', '', 'disabled', '', '', '2024-01-02 10:00:09', '2024-01-02 10:00:09');
CREATE TABLE menu_resource (id VARCHAR(20) NOT NULL PRIMARY KEY, menu_id VARCHAR(20), method VARCHAR(20), path VARCHAR(255), created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL);
INSERT INTO menu_resource VALUES ('cqb1', 'cqa1k0m5v9h5', 'POST', '/api/v1/menus', NULL, NULL), ('cqb2', 'cqa1k0m5v9h6', 'PUT', '/api/v1/menus/{id}', NULL, NULL), ('cqb3', 'cqa1k0m5v9h8', 'POST', '/api/v1/roles', NULL, NULL);
