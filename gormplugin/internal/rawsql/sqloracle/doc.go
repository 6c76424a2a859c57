// Package sqloracle is for tests only. They hold package rawsql against those who really know what
// a piece of SQL writes.
//
//   - MySQL: the parser of TiDB, and for what only MariaDB has, a server, which runs each statement
//     in a transaction or on a table that is filled anew;
//   - PostgreSQL: its own parser;
//   - SQLite: its own compiler, by the authorizer that it asks.
//
// Whatever they say writes the table "suites" has to be found. The other way round, what they say
// only reads has to pass, but for the statements that are listed with the reason.
//
// The folder testdata has the corpus, a statement on each line. The tests go through it, and
// through some thousands of statements that are pieces of several of them (PATHLOCK_TEST_EDITS says
// how many). The fuzzers do the same, guided by what the parser makes of it, and keep what they
// find in testdata/fuzz:
//
//	PATHLOCK_TEST_EDITS=1000000 go test ./...
//	go test -fuzz FuzzMySQL -fuzztime 5m ./mysql
//
// What either finds goes into the corpus. This is a module of its own, so that nobody else gets its
// dependencies.
package sqloracle
