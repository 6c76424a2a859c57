-- fsck: --table sys_departments --single-tree departments --name= --path= --id-path ancestors
--   --id-path-form parent:0,*,*
-- fsck: --table sys_base_menus --single-tree menus --name= --path= --id-path +
--   --depth menu_level --depth-top 0
-- fsck: --table sys_authorities --key authority_id --single-tree authorities --name= --path=
--   --id-path +
-- fsck: --table sys_dictionary_details --tree-column sys_dictionary_id --name= --path= --id-path
--   path --id-path-form parent:*,*
--   --depth level --depth-top 0
CREATE TABLE sys_departments (id INTEGER PRIMARY KEY, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL, name VARCHAR(191), parent_id BIGINT DEFAULT 0, ancestors VARCHAR(191), sort BIGINT DEFAULT 0, leader_id BIGINT, status BOOLEAN DEFAULT true);
INSERT INTO sys_departments VALUES
  (1, '2025-01-06 10:00:00', '2025-01-06 10:00:00', NULL, 'Lighthouse', 0, '0', 0, 1, true),
  (2, '2025-01-06 10:01:00', '2025-01-06 10:01:00', NULL, 'Lamps', 1, '0,1', 1, 2, true),
  (3, '2025-01-06 10:02:00', '2025-01-06 10:02:00', NULL, 'Lenses', 2, '0,1,2', 1, 3, true),
  (4, '2025-01-06 10:03:00', '2025-01-06 10:03:00', NULL, 'Glass', 3, '0,1,2,3', 1, 0, false),
  (5, '2025-01-06 10:04:00', '2025-01-06 10:04:00', NULL, 'Foghorns', 1, '0,1', 2, 1, true),
  (6, '2025-01-06 10:05:00', '2025-01-06 10:05:00', NULL, 'Glass', 5, '0,1,5', 1, 4, true),
  (7, '2025-01-07 10:00:00', '2025-01-07 10:00:00', NULL, 'Supplies', 0, '0', 2, 2, true),
  (8, '2025-01-07 10:01:00', '2025-01-07 10:01:00', NULL, 'Oil', 7, '0,7', 1, 0, false),
  (9, '2025-01-07 10:02:00', '2025-01-07 10:02:00', NULL, 'Wicks', 7, '0,7', 2, 5, true),
  (10, '2025-01-07 10:03:00', '2025-02-01 00:00:00', '2025-02-01 00:00:00', 'Candles', 7, '0,7', 3, 0, true);
CREATE TABLE sys_base_menus (id INTEGER PRIMARY KEY, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL, menu_level BIGINT, parent_id BIGINT, path VARCHAR(191), name VARCHAR(191), hidden BOOLEAN, component VARCHAR(191), sort BIGINT, keep_alive BOOLEAN, title VARCHAR(191), icon VARCHAR(191));
INSERT INTO sys_base_menus VALUES
  (1, NULL, NULL, NULL, 0, 0, 'dashboard', 'dashboard', false, 'view/dashboard/index.vue', 1, false, 'Dashboard', 'odometer'),
  (2, NULL, NULL, NULL, 0, 0, 'about', 'about', false, 'view/about/index.vue', 9, false, 'About', 'info-filled'),
  (3, NULL, NULL, NULL, 0, 0, 'admin', 'superAdmin', false, 'view/superAdmin/index.vue', 3, false, 'Administration', 'user'),
  (4, NULL, NULL, NULL, 1, 3, 'authority', 'authority', false, 'view/superAdmin/authority.vue', 1, false, 'Roles', 'avatar'),
  (5, NULL, NULL, NULL, 1, 3, 'menu', 'menu', false, 'view/superAdmin/menu.vue', 2, true, 'Menus', 'tickets'),
  (6, NULL, NULL, NULL, 1, 3, 'dictionary', 'dictionary', false, 'view/superAdmin/dictionary.vue', 5, false, 'Words', 'notebook'),
  (7, NULL, NULL, NULL, 2, 6, 'detail/:id', 'dictionaryDetail', true, 'view/superAdmin/detail.vue', 1, false, 'Word', 'list'),
  (8, NULL, NULL, NULL, 0, 0, 'systemTools', 'systemTools', false, 'view/systemTools/index.vue', 5, false, 'Tools', 'tools'),
  (9, NULL, NULL, NULL, 1, 8, 'autoCode', 'autoCode', false, 'view/systemTools/autoCode.vue', 1, true, 'Generator', 'cpu'),
  (10, NULL, NULL, NULL, 1, 8, 'system', 'system', false, 'view/systemTools/system.vue', 3, false, 'Settings', 'operation');
CREATE TABLE sys_authorities (created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL, authority_id BIGINT NOT NULL PRIMARY KEY, authority_name VARCHAR(191), parent_id BIGINT, default_router VARCHAR(191) DEFAULT 'dashboard');
INSERT INTO sys_authorities VALUES
  (NULL, NULL, NULL, 888, 'Keeper', 0, 'dashboard'), (NULL, NULL, NULL, 8881, 'Deputy', 888, 'dashboard'), (NULL, NULL, NULL, 8882, 'Watch', 888, 'about'), (NULL, NULL, NULL, 9528, 'Tester', 0, 'dashboard'),
  (NULL, NULL, NULL, 88811, 'Night deputy', 8881, 'about'), (NULL, NULL, NULL, 88812, 'Day deputy', 8881, 'dashboard'), (NULL, NULL, NULL, 95281, 'Intern', 9528, 'dashboard'), (NULL, NULL, NULL, 95282, 'Guest', 9528, 'about'),
  (NULL, NULL, NULL, 888111, 'Relief', 88811, 'about'), (NULL, NULL, NULL, 888112, 'Reserve', 88811, 'dashboard');
CREATE TABLE sys_dictionaries (id INTEGER PRIMARY KEY, deleted_at TIMESTAMP NULL, name VARCHAR(191), type VARCHAR(191), status BOOLEAN);
INSERT INTO sys_dictionaries VALUES (1, NULL, 'Region', 'region', true), (2, NULL, 'Weather', 'weather', true);
CREATE TABLE sys_dictionary_details (id INTEGER PRIMARY KEY, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL, label VARCHAR(191), value VARCHAR(191), extend VARCHAR(191), status BOOLEAN, sort BIGINT, sys_dictionary_id BIGINT, parent_id BIGINT, level BIGINT, path VARCHAR(191));
INSERT INTO sys_dictionary_details VALUES
  (1, NULL, NULL, NULL, 'North', 'n', '', true, 1, 1, NULL, 0, ''),
  (2, NULL, NULL, NULL, 'Coast', 'nc', '', true, 1, 1, 1, 1, '1'),
  (3, NULL, NULL, NULL, 'Bay', 'ncb', '', false, 2, 1, 2, 2, '1,2'),
  (4, NULL, NULL, NULL, 'Cape', 'ncc', '', true, 1, 1, 2, 2, '1,2'),
  (5, NULL, NULL, NULL, 'South', 's', '', true, 2, 1, NULL, 0, ''),
  (6, NULL, NULL, NULL, 'Delta', 'sd', 'x', true, 1, 1, 5, 1, '5'),
  (7, NULL, NULL, NULL, 'Wet', '1', '', true, 1, 2, NULL, 0, ''),
  (8, NULL, NULL, NULL, 'Rain', '11', '', false, 2, 2, 7, 1, '7'),
  (9, NULL, NULL, NULL, 'Drizzle', '111', '', true, 3, 2, 8, 2, '7,8'),
  (10, NULL, NULL, NULL, 'Snow', '12', '', true, 1, 2, 7, 1, '7');
