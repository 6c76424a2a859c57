// Package sqlstore is the lock store in a table of a SQL database.
package sqlstore
