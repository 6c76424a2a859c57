-- The functions that come neither with SQLite nor with the extensions that drivers add.
SELECT DISTINCT LOWER(name) AS name
FROM pragma_function_list
WHERE builtin = 0 AND name NOT IN ('match', 'regexp', 'regexpi', 'snippet', 'highlight', 'bm25', 'base64', 'base85')
  AND name NOT LIKE 'decimal%' AND name NOT LIKE 'ieee754%' AND name NOT LIKE 'geopoly%' AND name NOT LIKE 'rtree%' AND name NOT LIKE 'fts%'
