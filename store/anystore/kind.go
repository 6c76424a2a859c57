package anystore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// newOptions applies options. The stores without a client are always among the kinds.
func newOptions(opts []Option) storeurl.Options {
	o := storeurl.Options{Kinds: []storeurl.Kind{
		{
			Schemes: []string{"memory"}, Forms: []string{"memory://"}, Show: storeurl.Always("memory:// (this process only)"), Secure: storeurl.NoPassword,
			Open: opensLocal(memstore.New),
		},
		{
			Schemes: []string{"off"}, Forms: []string{"off://"}, Show: storeurl.Always("off:// (no locks)"), Secure: storeurl.NoPassword, Alone: true,
			Open: opensLocal(offstore.New),
		},
	}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Forms returns an example of each form of URL that [Open] takes with the same options, for
// messages and help texts.
func Forms(opts ...Option) []string { return forms(newOptions(opts)) }

func forms(o storeurl.Options) []string {
	var forms []string
	for _, k := range o.Kinds {
		forms = append(forms, k.Forms...)
	}
	return append(forms, "quorum:URL|URL|URL")
}

// packages have the kinds that are options, by the beginnings of their schemes.
var packages = map[string]string{
	"redis": "redisstore", "rediss": "redisstore", "mysql": "sqlopen", "postgres": "sqlopen", "postgresql": "sqlopen", "sqlite": "sqlopen",
	"zk": "zkstore", "zks": "zkstore", "etcd": "etcdstore", "etcds": "etcdstore",
}

// kindOf returns the kind of store that a URL names. The error for any other text quotes nothing of
// it.
func kindOf(url string, o storeurl.Options) (storeurl.Kind, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	for _, k := range o.Kinds {
		if slices.Contains(k.Schemes, scheme) && strings.HasPrefix(rest, "//") {
			return k, nil
		}
	}
	base, _, _ := strings.Cut(scheme, "+")
	if name, ok := packages[base]; ok && strings.HasPrefix(rest, "//") {
		return storeurl.Kind{}, fmt.Errorf("%s:// needs the option %s.Kind", base, name)
	}
	return storeurl.Kind{}, errors.New("its scheme is unknown: supported are " + strings.Join(forms(o), ", "))
}

// schemes are those that URLs may have.
var schemes = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// checkSchemes refuses impossible schemes, and those that several kinds have.
func checkSchemes(kinds []storeurl.Kind) error {
	taken := map[string]bool{"quorum": true}
	for _, k := range kinds {
		for _, scheme := range k.Schemes {
			switch {
			case !schemes.MatchString(scheme):
				return fmt.Errorf("WithScheme: %q is not a scheme", scheme)
			case taken[scheme]:
				return fmt.Errorf("two options are for one scheme: %s is taken", scheme)
			}
			taken[scheme] = true
		}
	}
	return nil
}

// opensLocal is the Open of a kind that has no servers, and nothing to set.
func opensLocal(open func() pathlock.Store) func(context.Context, string, storeurl.Options) (pathlock.Store, error) {
	return func(_ context.Context, url string, _ storeurl.Options) (pathlock.Store, error) {
		if form := storeurl.Scheme(url) + "://"; url != form {
			return nil, errors.New("nothing follows " + form)
		}
		return open(), nil
	}
}
