package database

import (
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/pathlock-go/pathlock/store/anystore"
)

// Trouble says in a few words why a database does not serve. Its text continues "the database …",
// and has no addresses, so that clients may see it.
func Trouble(err error) string {
	if errors.Is(err, sqlite3.FULL) {
		return "is out of disk space"
	}
	return anystore.Trouble(err)
}
