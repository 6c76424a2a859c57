-- unsupported: comment_paths: closure
CREATE TABLE comments (id INTEGER PRIMARY KEY, bug_id INTEGER NOT NULL, author INTEGER NOT NULL, comment_date TIMESTAMP NULL, body TEXT NOT NULL);
INSERT INTO comments VALUES
  (1, 3, 1, '2024-01-01 10:00:00', 'What causes it?'), (2, 3, 2, '2024-01-01 10:01:00', 'A null, I think.'), (3, 3, 1, '2024-01-01 10:02:00', 'No, I looked.'), (4, 3, 3, '2024-01-01 10:03:00', 'The input is wrong.'), (5, 3, 2, '2024-01-01 10:04:00', 'Yes, that is it.'), (6, 3, 1, '2024-01-01 10:05:00', 'Add a check, please.'), (7, 3, 3, '2024-01-01 10:06:00', 'That fixed it.'), (8, 4, 2, '2024-01-02 10:00:00', 'It is slow.'), (9, 4, 1, '2024-01-02 10:01:00', 'How slow?'), (10, 4, 2, '2024-01-02 10:02:00', 'A minute.');
CREATE TABLE comment_paths (ancestor INTEGER NOT NULL, descendant INTEGER NOT NULL, depth INTEGER NOT NULL, PRIMARY KEY (ancestor, descendant));
INSERT INTO comment_paths VALUES
  (1, 1, 0), (1, 2, 1), (1, 3, 2), (1, 4, 1), (1, 5, 2), (1, 6, 2), (1, 7, 3), (2, 2, 0), (2, 3, 1), (3, 3, 0), (4, 4, 0), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 5, 0), (6, 6, 0), (6, 7, 1), (7, 7, 0), (8, 8, 0), (8, 9, 1), (8, 10, 2), (9, 9, 0), (9, 10, 1), (10, 10, 0);
