// Package sqlopen opens lock stores in SQL databases by URL. It has the drivers of all of them, of
// which that of SQLite (github.com/ncruces/go-sqlite3) registers itself as "sqlite3". A program
// with another driver of that name uses [sqlstore.New] instead.
package sqlopen
