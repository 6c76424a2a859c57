package rawsql

import (
	"slices"
	"strings"
)

// OnlyReads reports whether sql is one statement that reads. PostgreSQL's may write all the same,
// by a function that it calls, or that a view calls: where its text does not begin with a write,
// only the server knows. In MySQL and MariaDB, a view's function is not seen.
func (g *Grammar) OnlyReads(sql string) bool {
	if g.dollarQuotes {
		l := lexer{sql: strings.TrimLeft(sql, " \t\r\n(")}
		return !l.word().isAny("INSERT", "UPDATE", "DELETE", "MERGE", "COPY")
	}
	_, savepoint := PlainSavepoint(sql)
	return savepoint || (g.isPlainRead(sql) || g.isReadWith(sql)) && !g.mayCallStored(sql)
}

// isReadWith reports whether sql is certainly one WITH … SELECT.
func (g *Grammar) isReadWith(sql string) bool {
	l := lexer{sql: strings.TrimLeft(sql, " \t\r\n(")}
	if !l.word().is("WITH") || strings.IndexByte(sql, ';') >= 0 || len(versionMarks(sql)) > 0 {
		return false
	}
	return !slices.ContainsFunc(g.readings(sql), func(r reading) bool {
		return slices.ContainsFunc(g.tokens(sql, r), func(t token) bool { return t.isAny("INSERT", "UPDATE", "DELETE", "REPLACE") })
	})
}

// mayCallStored reports whether a SELECT of MySQL or MariaDB may call a function that somebody has
// stored: one with a schema or in quotes, or one that is not known to be the server's own.
func (g *Grammar) mayCallStored(sql string) bool {
	if !g.storedFunctions || strings.IndexByte(sql, '(') < 0 {
		return false
	}
	if len(versionMarks(sql)) > 0 {
		return true
	}
	for _, r := range g.readings(sql) {
		s := statement{grammar: g, tokens: g.tokens(sql, r)}
		for i, t := range s.tokens {
			if !t.isSign('(') {
				continue
			}
			before := s.at(i - 1)
			if before.kind == name || before.kind == word && (s.at(i-2).isSign('.') || !readers[strings.ToUpper(before.text)]) {
				return true
			}
		}
	}
	return false
}

// readers are the words of a SELECT that may stand before a parenthesis and write nothing: the
// functions of MySQL and MariaDB that people use, keywords, and types. One that is missing here
// only costs a call of the functions before the COMMIT.
var readers = words(`
	ALL AND ANY BETWEEN BINARY BY CASE CROSS DISTINCT DISTINCTROW DIV DUAL ELSE EXCEPT EXISTS FROM GROUP HAVING IN INDEX INNER
	INTERSECT INTERVAL IS JOIN KEY LATERAL LEFT LIKE LIMIT MEMBER MOD NOT OF OFFSET ON OR OVER PARTITION REGEXP RIGHT RLIKE ROW SELECT
	SOME STRAIGHT_JOIN THEN UNION USING VALUES WHEN WHERE XOR
	CHAR DATE DATETIME DECIMAL DOUBLE FLOAT NCHAR TIME TIMESTAMP VARCHAR
	ABS ACOS ASCII ASIN ATAN ATAN2 AVG BIN BIT_AND BIT_COUNT BIT_LENGTH BIT_OR BIT_XOR CAST CEIL CEILING CHARACTER_LENGTH CHARSET
	CHAR_LENGTH COALESCE COLLATION CONCAT CONCAT_WS CONNECTION_ID CONV CONVERT CONVERT_TZ COS COT COUNT CRC32 CUME_DIST CURDATE
	CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURTIME DATABASE DATEDIFF DATE_ADD DATE_FORMAT DATE_SUB DAY DAYNAME
	DAYOFMONTH DAYOFWEEK DAYOFYEAR DEGREES DENSE_RANK ELT EXP EXTRACT FIELD FIND_IN_SET FIRST_VALUE FLOOR FORMAT FOUND_ROWS
	FROM_BASE64 FROM_DAYS FROM_UNIXTIME GREATEST GROUPING GROUP_CONCAT HEX HOUR IF IFNULL INET6_ATON INET6_NTOA INET_ATON INET_NTOA
	INSTR ISNULL JSON_ARRAY JSON_ARRAYAGG JSON_CONTAINS JSON_CONTAINS_PATH JSON_DEPTH JSON_EXTRACT JSON_KEYS JSON_LENGTH JSON_MERGE_PATCH
	JSON_OBJECT JSON_OBJECTAGG JSON_OVERLAPS JSON_PRETTY JSON_QUERY JSON_QUOTE JSON_SEARCH JSON_TABLE JSON_TYPE JSON_UNQUOTE JSON_VALID
	JSON_VALUE LAG LAST_DAY LAST_INSERT_ID LAST_VALUE LCASE LEAD LEAST LENGTH LN LOCALTIME LOCALTIMESTAMP LOCATE LOG LOG10 LOG2 LOWER
	LPAD LTRIM MATCH AGAINST MAX MD5 MICROSECOND MID MIN MINUTE MONTH MONTHNAME NOW NTH_VALUE NTILE NULLIF OCT OCTET_LENGTH ORD
	PERCENT_RANK PI POSITION POW POWER QUARTER QUOTE RADIANS RAND RANK REGEXP_INSTR REGEXP_LIKE REGEXP_REPLACE REGEXP_SUBSTR REPEAT
	REPLACE REVERSE ROUND ROW_COUNT ROW_NUMBER RPAD RTRIM SCHEMA SECOND SEC_TO_TIME SESSION_USER SHA SHA1 SHA2 SIGN SIN SLEEP SOUNDEX
	SPACE SQRT STD STDDEV STDDEV_POP STDDEV_SAMP STRCMP STR_TO_DATE SUBDATE SUBSTR SUBSTRING SUBSTRING_INDEX SUM SYSDATE SYSTEM_USER
	TAN TIMEDIFF TIMESTAMPADD TIMESTAMPDIFF TIME_FORMAT TIME_TO_SEC TO_BASE64 TO_DAYS TRIM TRUNCATE UCASE UNHEX UNIX_TIMESTAMP UPPER
	USER UTC_DATE UTC_TIME UTC_TIMESTAMP UUID UUID_SHORT VARIANCE VAR_POP VAR_SAMP VERSION WEEK WEEKDAY WEEKOFYEAR YEAR YEARWEEK
	AS`)

// words returns the set of the words in a text.
func words(text string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}
