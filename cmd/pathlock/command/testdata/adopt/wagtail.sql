-- unsupported: wagtailcore_page: steps of 4
CREATE TABLE wagtailcore_page (id INTEGER PRIMARY KEY, path VARCHAR(255) NOT NULL UNIQUE, depth INTEGER NOT NULL, numchild INTEGER NOT NULL, title VARCHAR(255) NOT NULL, slug VARCHAR(255) NOT NULL, live BOOLEAN NOT NULL, has_unpublished_changes BOOLEAN NOT NULL, url_path TEXT NOT NULL, content_type_id INTEGER NOT NULL, owner_id INTEGER, locale_id INTEGER NOT NULL);
INSERT INTO wagtailcore_page VALUES
  (1, '0001', 1, 2, 'Root', 'root', true, false, '/', 1, NULL, 1),
  (3, '00010001', 2, 2, 'Home', 'home', true, false, '/home/', 2, NULL, 1),
  (4, '000100010001', 3, 2, 'News', 'news', true, false, '/home/news/', 3, 1, 1),
  (5, '0001000100010001', 4, 0, 'The new pier', 'new-pier', true, true, '/home/news/new-pier/', 4, 1, 1),
  (6, '0001000100010002', 4, 0, 'The old pier', 'old-pier', false, false, '/home/news/old-pier/', 4, 2, 1),
  (7, '000100010002', 3, 0, 'About', 'about', true, false, '/home/about/', 5, 1, 1),
  (8, '00010002', 2, 1, 'Startseite', 'start', true, false, '/start/', 2, NULL, 2),
  (9, '000100020001', 3, 2, 'Aktuelles', 'aktuelles', true, false, '/start/aktuelles/', 3, 1, 2),
  (10, '0001000200010001', 4, 0, 'Der Steg', 'steg', true, false, '/start/aktuelles/steg/', 4, 2, 2),
  (11, '000100020001000A', 4, 0, 'Die Boje', 'boje', true, false, '/start/aktuelles/boje/', 4, 2, 2);
