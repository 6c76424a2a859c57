// Package rawsql says which tables a piece of hand-written SQL writes to, and whether it ends the
// transaction that it runs in, in the dialects of MySQL and MariaDB, PostgreSQL and SQLite.
//
// It is a lexer and a handful of rules about where each kind of statement names its targets, no
// parser: a full grammar of three dialects would be a large dependency for a question that is asked
// once per raw statement. Words that write are looked for everywhere in a statement, unless its
// first word says that it only reads. Where the text can be read in several ways (a backslash
// before a quote, a comment that only some versions of MySQL execute), it is read in all of them.
// Where a rule cannot tell a table that is written from one that is only read in the same place, as
// in MySQL's UPDATE of a join, it is taken to be written. The module in the folder sqloracle holds
// the rules against the databases' own parsers.
//
// What the text does not show is not seen: calls of procedures, triggers, views, prepared
// statements by their name, and SQL that the database puts together itself.
package rawsql
