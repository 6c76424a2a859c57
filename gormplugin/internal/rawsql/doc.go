// Package rawsql says which tables a piece of hand-written SQL writes to, in the
// dialects of MySQL and MariaDB, PostgreSQL and SQLite.
//
// It is a lexer and a handful of rules about where each kind of statement names its targets, no parser: a
// full grammar of three dialects would be a large dependency for a question that is asked once per raw
// statement. Where the text can be read in two ways (a backslash before a quote, a comment that only
// some versions of MySQL execute), it is read in both. Where a rule cannot tell a table that is
// written from one that is only read in the same place, as in MySQL's UPDATE of a join, it is taken to be written.
//
// What the text does not show is not seen: procedures, triggers, views, and SQL that the database puts together itself.
package rawsql
