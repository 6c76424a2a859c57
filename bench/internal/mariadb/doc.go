// Package mariadb starts a MariaDB server for a measurement, on an empty data folder, and stops it
// afterwards.
package mariadb
