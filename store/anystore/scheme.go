package anystore

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// WithScheme adds a lock store of the program's own, which open opens for URLs that begin with
// scheme://, also as a member of a quorum. It is an option and no registration, so that a program
// says in one place which stores it knows, and what it imports adds none.
//
// The URL's user and password stand before the last @, and [WithPassword] puts a password there,
// percent-encoded. The error of open quotes neither, and names options that it does not know.
//
// A scheme that is none, or that is taken, makes [Open] fail.
func WithScheme(scheme string, open func(ctx context.Context, url string) (pathlock.Store, error)) Option {
	return func(o *options) {
		o.own = append(o.own, kind{
			schemes: []string{scheme}, forms: []string{scheme + "://…"}, show: showOwn, secure: withPassword,
			open: func(ctx context.Context, url string, _ options) (opened, error) {
				store, err := open(ctx, url)
				if err != nil {
					return opened{}, err
				}
				return opened{store: store, close: store.Close}, nil
			},
		})
	}
}

// schemes are those that URLs may have.
var schemes = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// checkSchemes refuses schemes that are none, or that several kinds have.
func (o options) checkSchemes() error {
	taken := options{}.kinds()
	for _, k := range o.own {
		scheme := k.schemes[0]
		switch {
		case !schemes.MatchString(scheme):
			return fmt.Errorf("WithScheme: %q is no scheme", scheme)
		case slices.ContainsFunc(taken, func(other kind) bool { return slices.Contains(other.schemes, scheme) }):
			return fmt.Errorf("WithScheme: the scheme %s is taken", scheme)
		}
		taken = append(taken, k)
	}
	return nil
}

// showOwn shows a URL of whose form nothing is known. What follows a ? that precedes an @ may be a
// password's end.
func showOwn(url string) string {
	if base, query, _ := strings.Cut(url, "?"); strings.Contains(query, "@") {
		return schemeOf(base) + "://"
	}
	return withoutUser(url)
}
