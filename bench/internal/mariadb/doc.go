// Package mariadb runs a MariaDB server for a measurement, on an empty data folder.
package mariadb
