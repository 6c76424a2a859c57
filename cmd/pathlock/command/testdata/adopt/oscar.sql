-- unsupported: catalogue_category: steps of 4
CREATE TABLE catalogue_category (id INTEGER PRIMARY KEY, path VARCHAR(255) NOT NULL UNIQUE, depth INTEGER NOT NULL, numchild INTEGER NOT NULL, name VARCHAR(255) NOT NULL, description TEXT NOT NULL, image VARCHAR(255), slug VARCHAR(255) NOT NULL, is_public BOOLEAN NOT NULL);
INSERT INTO catalogue_category VALUES
  (1, '0001', 1, 2, 'Books', '', '', 'books', true), (2, '00010001', 2, 2, 'Fiction', '', '', 'fiction', true), (3, '000100010001', 3, 0, 'Sea stories', '', '', 'sea-stories', true), (4, '000100010002', 3, 0, 'Ghost stories', '', '', 'ghost-stories', false), (5, '00010002', 2, 1, 'Charts', '', '', 'charts', true),
  (6, '000100020001', 3, 0, 'North Sea', '', '', 'north-sea', true), (7, '0002', 1, 2, 'Clothes', '', '', 'clothes', true), (8, '00020001', 2, 0, 'Oilskins', '', '', 'oilskins', true), (9, '00020002', 2, 1, 'Boots', '', '', 'boots', true), (10, '000200020001', 3, 0, 'Lined', '', '', 'lined', true);
