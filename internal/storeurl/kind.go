package storeurl

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// Kind is a kind of lock store, as anystore opens it.
type Kind struct {
	// Schemes are what precedes the :// of its URLs.
	Schemes []string
	// Forms are examples of its URLs, for messages.
	Forms []string
	// Open opens a store. Its errors quote no more of the URL than its options.
	Open func(ctx context.Context, url string, o Options) (pathlock.Store, error)
	// Show returns a URL without what is secret. Defaults to [WithoutUser].
	Show func(url string) string
	// Secure puts a password into a URL that has none. Its errors quote nothing of the URL.
	// Defaults to [WithPassword].
	Secure func(url, password string) (string, error)
	// Alone says that the store cannot be one of a quorum.
	Alone bool
}

// Options are those of anystore.Open. Every store has an option that adds its kinds.
type Options struct {
	Password string
	// NoTables keeps a store from making tables in a database.
	NoTables bool
	Kinds    []Kind
}

// ErrTwoPasswords is for a URL that has a password, or so many @ that it may have one.
var ErrTwoPasswords = errors.New("a password is given separately, so the URL must not contain one")

// ErrNoUser is for a URL without a user to whom a password could belong.
var ErrNoUser = errors.New("a password is given separately, but the URL names no user")

// NoPassword refuses passwords.
func NoPassword(url, _ string) (string, error) {
	return "", errors.New(Scheme(url) + ":// is a lock store without a password")
}

// Always shows one text for all URLs.
func Always(text string) func(string) string { return func(string) string { return text } }

// Scheme returns what precedes the first colon of a URL.
func Scheme(url string) string {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme
}

// names says how many parts that end with an @ stand between the user and the hosts of a URL.
func names(scheme string) int {
	if scheme == "redis+sentinel" || scheme == "rediss+sentinel" {
		return 1 // the primary's name
	}
	return 0
}

// WithoutUser removes the user, the password and the options from a URL with a user before its
// hosts.
func WithoutUser(rawURL string) string {
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

// WithPassword puts a password into a URL with a user before its hosts, and percent-encodes it.
func WithPassword(rawURL, password string) (string, error) {
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
		return "", ErrTwoPasswords
	case len(parts) == fixed+1:
		user = parts[0]
		parts = parts[1:]
	}
	// Everything but letters and digits is encoded, since the stores differ in which characters
	// have a meaning.
	user += ":" + strings.ReplaceAll(url.QueryEscape(password), "+", "%20")
	return scheme + "://" + user + "@" + strings.Join(parts, "@") + rest[end:], nil
}

// WithUsersPassword is [WithPassword] for stores that take no password without a user.
func WithUsersPassword(rawURL, password string) (string, error) {
	if _, rest, _ := strings.Cut(rawURL, "://"); strings.IndexByte(rest, '@') <= 0 {
		return "", ErrNoUser
	}
	return WithPassword(rawURL, password)
}
