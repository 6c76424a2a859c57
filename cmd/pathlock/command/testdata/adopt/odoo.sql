-- fsck: --table product_category --single-tree categories --name= --path= --id-path parent_path
--   --id-path-form */*/ --deleted=
-- fsck: --table stock_location --single-tree locations --parent location_id --name= --path=
--   --id-path parent_path --id-path-form */*/ --deleted=
CREATE TABLE product_category (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES product_category (id), create_uid INTEGER, write_uid INTEGER, name VARCHAR(128) NOT NULL, complete_name VARCHAR(255), parent_path VARCHAR(255), create_date TIMESTAMP NULL, write_date TIMESTAMP NULL, removal_strategy_id INTEGER);
INSERT INTO product_category VALUES
  (1, NULL, 1, 1, 'All', 'All', '1/', '2024-03-01 10:00:00', '2024-03-01 10:00:00', NULL),
  (2, 1, 1, 2, 'Saleable', 'All / Saleable', '1/2/', '2024-03-01 10:00:00', '2024-03-01 10:00:00', NULL),
  (3, 1, 2, 1, 'Expenses', 'All / Expenses', '1/3/', '2024-03-01 10:00:00', '2024-03-01 10:00:00', NULL),
  (4, 2, 1, 1, 'Boats', 'All / Saleable / Boats', '1/2/4/', '2024-03-02 10:00:00', '2024-03-02 10:00:00', 2),
  (5, 4, 2, 2, 'Dinghies', 'All / Saleable / Boats / Dinghies', '1/2/4/5/', '2024-03-02 10:00:00', '2024-03-02 10:00:00', NULL),
  (6, 4, 1, 1, 'Canoes', 'All / Saleable / Boats / Canoes', '1/2/4/6/', '2024-03-02 10:00:00', '2024-03-02 10:00:00', NULL),
  (7, 2, 1, 1, 'Ropes', 'All / Saleable / Ropes', '1/2/7/', '2024-03-03 10:00:00', '2024-03-03 10:00:00', 2),
  (8, NULL, 2, 2, 'Rental', 'Rental', '8/', '2024-03-03 10:00:00', '2024-03-03 10:00:00', NULL),
  (9, 8, 1, 2, 'Boats', 'Rental / Boats', '8/9/', '2024-03-03 10:00:00', '2024-03-03 10:00:00', NULL),
  (10, 9, 1, 1, 'Canoes', 'Rental / Boats / Canoes', '8/9/10/', '2024-03-03 10:00:00', '2024-03-03 10:00:00', NULL);
CREATE TABLE stock_location (id INTEGER PRIMARY KEY, location_id INTEGER, posx INTEGER, company_id INTEGER, name VARCHAR(128) NOT NULL, complete_name VARCHAR(255), "usage" VARCHAR(32) NOT NULL, parent_path VARCHAR(255), barcode VARCHAR(64), active BOOLEAN, scrap_location BOOLEAN, create_date TIMESTAMP NULL);
INSERT INTO stock_location VALUES
  (1, NULL, 0, NULL, 'Physical Locations', 'Physical Locations', 'view', '1/', NULL, true, false, '2024-03-01 10:00:00'),
  (2, NULL, 0, NULL, 'Partner Locations', 'Partner Locations', 'view', '2/', NULL, true, false, '2024-03-01 10:00:00'),
  (4, 2, 0, NULL, 'Vendors', 'Partner Locations/Vendors', 'supplier', '2/4/', NULL, true, false, '2024-03-01 10:00:00'),
  (5, 2, 0, NULL, 'Customers', 'Partner Locations/Customers', 'customer', '2/5/', NULL, true, false, '2024-03-01 10:00:00'),
  (7, 1, 0, 1, 'WH', 'WH', 'view', '1/7/', NULL, true, false, '2024-03-01 10:00:00'),
  (8, 7, 0, 1, 'Stock', 'WH/Stock', 'internal', '1/7/8/', 'WHSTOCK', true, false, '2024-03-01 10:00:00'),
  (9, 8, 2, 1, 'Shelf 1', 'WH/Stock/Shelf 1', 'internal', '1/7/8/9/', NULL, false, false, '2024-03-02 10:00:00'),
  (10, 9, 1, 1, 'Box a', 'WH/Stock/Shelf 1/Box a', 'internal', '1/7/8/9/10/', NULL, true, false, '2024-03-02 10:00:00'),
  (11, 7, 0, 1, 'Input', 'WH/Input', 'internal', '1/7/11/', 'WHIN', true, false, '2024-03-01 10:00:00'),
  (12, 1, 0, 2, 'DOCK', 'DOCK', 'view', '1/12/', NULL, true, false, '2024-03-04 10:00:00'),
  (13, 12, 0, 2, 'Stock', 'DOCK/Stock', 'internal', '1/12/13/', NULL, true, true, '2024-03-04 10:00:00');
