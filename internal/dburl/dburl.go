// Package dburl says what is wrong with the URL of a database. Errors name the reason and quote
// options. They quote nothing else, where a password may be.
package dburl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock/internal/storeurl"
)

// MySQL reads a DSN of go-sql-driver/mysql. It has to name a database.
func MySQL(dsn string) (*mysql.Config, error) {
	const give = ": give mysql://user:password@tcp(host:3306)/name"
	bad := errors.New("the MySQL DSN makes no sense" + give)
	slash := strings.LastIndexByte(dsn, '/') // where the driver looks for the name
	name, options, _ := strings.Cut(dsn[slash+1:], "?")
	cfg, err := mysql.ParseDSN(dsn[:slash+1] + name)
	switch {
	// In a DSN without @, the driver takes what precedes the address for the network.
	case err != nil, cfg.Net != "tcp" && cfg.Net != "unix":
		return nil, bad
	case cfg.DBName == "":
		return nil, errors.New("the MySQL DSN names no database" + give)
	case cfg.Net == "tcp" && storeurl.CheckPort(cfg.Addr) != nil:
		return nil, fmt.Errorf("the MySQL DSN: %w%s", storeurl.ErrPort, give)
	}
	if cfg, err = mysql.ParseDSN(dsn); err == nil {
		return cfg, nil
	}
	for option := range strings.SplitSeq(options, "&") {
		if _, err := mysql.ParseDSN("/?" + option); err != nil && !strings.Contains(options, "@") {
			option, _, _ = strings.Cut(option, "=")
			return nil, fmt.Errorf("the MySQL DSN's option %s makes no sense%s", option, give)
		}
	}
	return nil, bad
}

// Postgres refuses a URL that the driver cannot read, or that names no database. parse is the
// driver's, and returns the database.
func Postgres(url string, parse func(url string) (database string, err error)) error {
	const give = ": give postgres://user:password@host:5432/name, with / ? # @ % in a password as %2F %3F %23 %40 %25"
	bad := errors.New("the PostgreSQL URL makes no sense" + give)
	base, options, _ := strings.Cut(url, "?")
	_, hosts, _ := strings.Cut(base, "://")
	hosts, name, _ := strings.Cut(hosts, "/")
	database, err := parse(url)
	switch {
	// A # is never right. An @ behind the hosts means that the password has a slash, and that half
	// of it was taken for a port.
	case strings.Contains(url, "#"), strings.Contains(name, "@"), err != nil && strings.Contains(options, "@"):
		return bad
	case err == nil && database == "":
		return errors.New("the PostgreSQL URL names no database" + give)
	case err == nil:
		return nil
	}
	for host := range strings.SplitSeq(hosts[strings.LastIndexByte(hosts, '@')+1:], ",") {
		if _, port, found := strings.Cut(host[strings.LastIndexByte(host, ']')+1:], ":"); found && storeurl.CheckPort("host:"+port) != nil {
			return fmt.Errorf("the PostgreSQL URL: %w%s", storeurl.ErrPort, give)
		}
	}
	if _, err := parse("postgres://host?" + options); err != nil {
		// The driver's error begins with the URL, and the reason follows.
		_, why, _ := strings.Cut(err.Error(), "`: ")
		return fmt.Errorf("the PostgreSQL URL's options: %s", why)
	}
	return bad
}

// SQLite refuses a path that is not that of a file.
func SQLite(path string) error {
	switch {
	case path == "" || path == ":memory:":
		return errors.New("SQLite needs a file that several connections can open: give sqlite://PATH")
	case strings.Contains(path, "?"):
		_, option, _ := strings.Cut(path, "?")
		option, _, _ = strings.Cut(option, "=")
		return fmt.Errorf("a SQLite file has no option %q: give sqlite://PATH, with no ? in the path", option)
	}
	return nil
}
