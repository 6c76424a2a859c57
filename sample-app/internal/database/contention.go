package database

// IsContention reports whether an error says that transactions collided, so
// that the same one may well succeed if it is done again.
func IsContention(err error) bool {
	return mysqlContended(err) || postgresContended(err) || sqliteContended(err)
}
