-- unsupported: part_partcategory: nested set
CREATE TABLE part_partcategory (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL, description VARCHAR(250) NOT NULL, parent_id INTEGER REFERENCES part_partcategory (id), level INTEGER NOT NULL, lft INTEGER NOT NULL, rght INTEGER NOT NULL, tree_id INTEGER NOT NULL, default_keywords VARCHAR(250), structural BOOLEAN NOT NULL, icon VARCHAR(100) NOT NULL);
INSERT INTO part_partcategory VALUES
  (1, 'Electronics', '', NULL, 0, 1, 12, 1, NULL, true, ''), (2, 'Passives', '', 1, 1, 2, 9, 1, NULL, false, ''), (3, 'Resistors', 'fixed', 2, 2, 3, 4, 1, 'res', false, 'ti:r'), (4, 'Capacitors', '', 2, 2, 5, 8, 1, 'cap', false, ''), (5, 'Ceramic', '', 4, 3, 6, 7, 1, NULL, false, ''), (6, 'Chips', '', 1, 1, 10, 11, 1, NULL, false, ''),
  (7, 'Mechanical', '', NULL, 0, 1, 8, 2, NULL, false, ''), (8, 'Screws', '', 7, 1, 2, 5, 2, NULL, true, 'ti:s'), (9, 'Wood screws', '', 8, 2, 3, 4, 2, NULL, false, ''), (10, 'Nuts', '', 7, 1, 6, 7, 2, NULL, false, '');
