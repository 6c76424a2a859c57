// Package sqloracle has tests only: they hold package rawsql against those who really know what a piece of SQL writes.
//
//   - MySQL: the parser of TiDB, and for what only MariaDB has, a server, which runs each statement in a transaction or on a
//     table that is filled anew;
//   - PostgreSQL: its own parser;
//   - SQLite: its own compiler, by the authorizer that it asks.
//
// Whatever they say writes the table "suites" has to be found. The other way round, what they say only reads has to pass,
// but for the statements that are listed with the reason.
//
// The folder testdata has a statement for each line of the files named after the dialects. The fuzzers
// start from these, put pieces of one into another, and keep what they find in testdata/fuzz:
//
//	go test -fuzz FuzzMySQL -fuzztime 5m .
//
// This is a module of its own, so that nobody else gets its dependencies.
package sqloracle
