package anystore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// consul is a store of a program's own.
type consul struct {
	pathlock.Store
	closed *[]string
	url    string
}

func (c consul) Close(context.Context) error { *c.closed = append(*c.closed, c.url); return nil }

// A store of the program's own is opened by its URL, also in a quorum, with the password that is
// given beside it. It is shown without that, and closed with the others.
func TestWithScheme_opensAStoreOfOnesOwn(t *testing.T) {
	var closed []string
	own := anystore.WithScheme("consul", func(_ context.Context, url string) (pathlock.Store, error) {
		if strings.Contains(url, "replicas") {
			return nil, errors.New(`the option "replicas" is unknown`)
		}
		return consul{memstore.New(), &closed, url}, nil
	})
	for url, shown := range map[string]string{
		"consul://h1?dc=2":                           "consul://h1",
		"consul://user@h1/locks":                     "consul://h1/locks",
		"quorum:consul://h1|consul://u@h2|memory://": "quorum:consul://h1|consul://h2|memory:// (this process only)",
	} {
		var password []anystore.Option
		if strings.HasPrefix(url, "consul") {
			password = append(password, anystore.WithPassword("sec/ret"))
		}
		store, err := anystore.Open(t.Context(), url, append(password, own)...)
		testerr.Must(t, err)
		if members := strings.Count(url, "|") + min(strings.Count(url, "|"), 1); len(store.Members()) != members {
			t.Errorf("%s has %d members, want %d", url, len(store.Members()), members)
		}
		if store.String() != shown {
			t.Errorf("%s is shown as %s, want %s", url, store, shown)
		}
		testerr.None(t, testerr.Of(pathlock.New(store).Mutex("a").TryLock(t.Context())))
		testerr.None(t, store.Close(t.Context()))
	}
	slices.Sort(closed)
	if got := fmt.Sprint(closed); got != "[consul://:sec%2Fret@h1?dc=2 consul://h1 consul://u@h2 consul://user:sec%2Fret@h1/locks]" {
		t.Errorf("it opens and closes %s", got)
	}
	if _, err := anystore.Open(t.Context(), "consul://h1?replicas=1", own); !errors.Is(err, anystore.ErrURL) || !strings.Contains(err.Error(), "replicas") {
		t.Errorf("an unknown option: %v", err)
	}
	if forms := anystore.Forms(own); !slices.Contains(forms, "consul://…") {
		t.Errorf("the forms are %v", forms)
	}
	testerr.Is(t, "without the option", testerr.Of(anystore.Open(t.Context(), "consul://h1")), anystore.ErrURL)
	if store, err := anystore.Open(t.Context(), "consul://user:p?a@ss@h1", own); err != nil || store.String() != "consul://" {
		t.Errorf("a password with a ? is shown as %v, %v", store, err)
	}
}

// A scheme that is taken, or none, is refused, whatever is opened.
func TestWithScheme_schemesAreApart(t *testing.T) {
	open := func(context.Context, string) (pathlock.Store, error) { return memstore.New(), nil }
	for scheme, says := range map[string]string{"memory": "memory is taken", "rediss": "rediss is taken", "own": "own is taken", "Own:": "is not a scheme", "": "is not a scheme"} {
		_, err := anystore.Open(t.Context(), "memory://", redisstore.Kind, anystore.WithScheme("own", open), anystore.WithScheme(scheme, open))
		if !errors.Is(err, anystore.ErrURL) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want that it %s", scheme, err, says)
		}
	}
}

// A URL of a store that the program has not linked says what to link.
func TestOpen_namesTheKindThatIsMissing(t *testing.T) {
	for url, says := range map[string]string{
		"etcds://u:secret@h1/locks":                      "etcds:// needs the option etcdstore.Kind",
		"zk://h1":                                        "zk:// needs the option zkstore.Kind",
		"postgresql://u:secret@h1/locks":                 "postgresql:// needs the option sqlopen.Kind",
		"quorum:redis://:secret@h1|redis://h2|etcd://h3": "member 3 of the quorum: etcd:// needs the option etcdstore.Kind",
		"consul://u:secret@h1":                           "supported are memory://, off://, redis://host:6379/0, redis+cluster://h1,h2,h3, redis+sentinel://master@h1,h2, quorum:",
	} {
		_, err := anystore.Open(t.Context(), url, redisstore.Kind)
		if !errors.Is(err, anystore.ErrURL) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want that %s, and no secret", url, err, says)
		}
	}
}

// The pool of go-redis dials a server that does not answer once a second, and only then checks
// whether it has been closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}
