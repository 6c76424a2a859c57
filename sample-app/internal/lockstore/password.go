package lockstore

import (
	"errors"
	"net/url"
	"strings"
)

// withPassword puts a password into a lock store's URL that has none, percent-encoded as a URL
// wants it.
func withPassword(rawURL, password string) (string, error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	parts := strings.Split(rest[:end], "@")
	// What stands before the hosts of a redis+sentinel URL is the primary's name; the user stands
	// before that.
	fixed := 1
	if scheme == "redis+sentinel" {
		fixed = 2
	}
	user := ""
	switch {
	case !strings.HasPrefix(scheme, "redis"):
		return "", errors.New("only a redis lock store has a password")
	case len(parts) > fixed+1, len(parts) < fixed, len(parts) == fixed+1 && strings.Contains(parts[0], ":"):
		return "", errors.New("the password is given beside the URL, so the URL must not have one")
	case len(parts) == fixed+1:
		user = parts[0]
		parts = parts[1:]
	}
	user += url.UserPassword("", password).String()
	return scheme + "://" + user + "@" + strings.Join(parts, "@") + rest[end:], nil
}
