package anystore

import (
	"errors"
	"net/url"
	"strings"

	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// errTwoPasswords is for a URL that has a password, or so many @ that it may have one.
var errTwoPasswords = errors.New("the password is given beside the URL, so the URL must not have one")

// errNoUser is for a URL without a user to whom a password could belong.
var errNoUser = errors.New("the password is given beside the URL, which names no user")

// noPassword refuses passwords.
func noPassword(url, _ string) (string, error) {
	return "", errors.New(schemeOf(url) + ":// is a lock store without a password")
}

// always shows one text for all URLs.
func always(text string) func(string) string { return func(string) string { return text } }

// names says how many parts that end with an @ stand between the user and the hosts of a URL.
func names(scheme string) int {
	if scheme == "redis+sentinel" || scheme == "rediss+sentinel" {
		return 1 // the primary's name
	}
	return 0
}

// withoutUser removes the user, the password and the options from a URL with a user before its
// hosts.
func withoutUser(rawURL string) string {
	rawURL, _, _ = strings.Cut(rawURL, "?")
	scheme, rest, _ := strings.Cut(rawURL, "://")
	at := strings.LastIndexByte(rest, '@')
	for range names(scheme) {
		if at >= 0 {
			at = strings.LastIndexByte(rest[:at], '@')
		}
	}
	return scheme + "://" + rest[at+1:]
}

// showOwn shows a URL of whose form nothing is known. What follows a ? that precedes an @ may be a
// password's end.
func showOwn(url string) string {
	if base, query, _ := strings.Cut(url, "?"); strings.Contains(query, "@") {
		return schemeOf(base) + "://"
	}
	return withoutUser(url)
}

// showSQL shows the address and the database.
func showSQL(url string) string {
	d, err := sqlopen.Parse(url)
	if err != nil {
		return schemeOf(url) + "://"
	}
	return d.String()
}

// showSQLite shows the file of the locks.
func showSQLite(url string) string {
	file, _, _ := strings.Cut(besideData(url), "?")
	return file
}

// withPassword puts a password into a URL with a user before its hosts, and percent-encodes it.
func withPassword(rawURL, password string) (string, error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	parts := strings.Split(rest[:end], "@")
	fixed := 1 + names(scheme)
	user := ""
	switch {
	case len(parts) > fixed+1, len(parts) < fixed, len(parts) == fixed+1 && strings.Contains(parts[0], ":"):
		return "", errTwoPasswords
	case len(parts) == fixed+1:
		user = parts[0]
		parts = parts[1:]
	}
	// Everything but letters and digits is encoded: what has a meaning differs between the stores.
	user += ":" + strings.ReplaceAll(url.QueryEscape(password), "+", "%20")
	return scheme + "://" + user + "@" + strings.Join(parts, "@") + rest[end:], nil
}

// withUsersPassword is [withPassword] for stores that take no password without a user.
func withUsersPassword(rawURL, password string) (string, error) {
	if _, rest, _ := strings.Cut(rawURL, "://"); strings.IndexByte(rest, '@') <= 0 {
		return "", errNoUser
	}
	return withPassword(rawURL, password)
}

// secureMySQL puts a password into a DSN, which does not encode it.
func secureMySQL(url, password string) (string, error) {
	dsn := strings.TrimPrefix(url, "mysql://")
	// As the driver reads it: what precedes the last slash ends its user with the last @.
	slash := strings.LastIndexByte(dsn, '/')
	at := strings.LastIndexByte(dsn[:max(slash, 0)], '@')
	switch {
	case at <= 0:
		return "", errNoUser
	case strings.Contains(dsn[:at], ":"):
		return "", errTwoPasswords
	}
	return "mysql://" + dsn[:at] + ":" + password + dsn[at:], nil
}
