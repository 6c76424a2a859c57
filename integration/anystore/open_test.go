package anystore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/store/anystore"
)

// opening is a URL and its outcome: how the store is shown, or what the error says.
type opening struct{ url, password, shown, err string }

func TestOpen(t *testing.T) {
	for _, tt := range []opening{
		{url: "off://", shown: "off:// (no locks)"},
		{url: "redis+sentinel://user:secret@main@h1,h2", shown: "redis+sentinel://main@h1,h2"},
		{url: "rediss+sentinel://user:secret@main@h1,h2", shown: "rediss+sentinel://main@h1,h2"},
		{url: "rediss+sentinel://user@main@h1", password: "secret", shown: "rediss+sentinel://main@h1"},
		{url: "mysql://user:s/e?c@r:e(t)@unix(/tmp/mysql.sock)/locks", shown: "mysql:///tmp/mysql.sock/locks"},
		{url: "postgres://user:secret@db.example/locks", shown: "postgres://db.example:5432/locks"},
		{url: "sqlite://some.db?timeout=3s", shown: "sqlite://some.db-locks"},
		{url: "zk://user@h1/locks", password: "secret/#?@%:,", shown: "zk://h1/locks"},
		{url: "zk://h1,h2:2182,h3/locks/app", shown: "zk://h1,h2:2182,h3/locks/app"},
		{url: "etcds://h1?timeout=3s&max_txn_ops=500", shown: "etcds://h1"},
		{url: "redis://h1?prefix=a&max_claims=9&max_waiters=9&pool_size=3", shown: "redis://h1"},
		{url: "mysql://user:s/e?c@r:e(t)@tcp(h1:3306)/locks?charset=utf8mb4,utf8&prefix=a_&max_waiters=9", shown: "mysql://h1:3306/locks"},
		{url: "postgres://u:secret@h1/locks?prefix=a_&max_waiters=9&timeout=3s&sslmode=disable", shown: "postgres://h1:5432/locks"},
		{url: "mysql://user@tcp(db.example:3306)/locks?tls=true", password: "secret/#?@%:,|()", shown: "mysql://db.example:3306/locks"},
		{url: "postgres://user@db.example/locks", password: "secret/#?@%:,|()", shown: "postgres://db.example:5432/locks"},
		{url: "quorum:redis://u:secret@h1/0?pool_size=3|redis+sentinel://u:secret@main@h2|memory://", shown: "quorum:redis://h1/0|redis+sentinel://main@h2|memory:// (this process only)"},
		{url: "quorum:redis://h1|redis://u@h2|redis://h3|timeout=1s", password: "secret/|#?@%:", shown: "quorum:redis://h1|redis://h2|redis://h3"},

		{url: "redis://user@127.0.0.1:6379/0?pool_size=3", password: "secret/#?@%:", shown: "redis://127.0.0.1:6379/0"},
	} {
		store := open(t, tt.url, anystore.WithPassword(tt.password))
		scheme, _, _ := strings.Cut(tt.url, ":")
		if store.String() != tt.shown || store.Scheme() != scheme {
			t.Errorf("%s is shown as %q, want %q; its scheme is %q", tt.url, store, tt.shown, store.Scheme())
		}
	}
}

// Whatever is wrong with a URL, and wherever its password is, the error quotes no more of the URL
// than its options. What the stores' own errors say, their own tests know.
func TestOpen_refuses(t *testing.T) {
	const supported = "supported are memory://, "
	for _, tt := range []opening{
		{url: "", err: supported},
		{url: "secret@redis://127.0.0.1:6379/0", err: supported},
		{url: "mysql://user:secret@db.example/locks", err: "the MySQL DSN makes no sense"},
		{url: "sqlite://", err: "sqlite://PATH"},
		{url: "sqlite://some.db?mode=ro", err: `a SQLite file has no option "mode"`},
		{url: "memory://?timeout=1s", err: "nothing follows memory://"},
		{url: "redis://u:secret@h1?replicas=1", err: "replicas"},
		{url: "redis+cluster://u:secret@h1?replicas=1", err: "replicas"},
		{url: "redis+sentinel://u:secret@main@h1?replicas=1", err: "replicas"},
		{url: "zk://u:secret@h1?replicas=1", err: `"replicas"`},
		{url: "redis://h1,h2", err: "names one host"},
		{url: "zk://h1/a//b", err: "the root is the path of a znode"},
		{url: "etcd://u:secret@h1?replicas=1", err: `"replicas"`},
		{url: "etcds://u:secret@h1?cert_file=my.pem", err: "cert_file and key_file belong together"},
		{url: "etcds://u:secret@h1?ca_file=open_test.go", err: "no certificate in the URL's ca_file"},
		{url: "zk://:secret@h1", err: "not a valid URL"},
		{url: "zk://u:secret@h1?timeout=%zz", err: "not a valid URL"},
		{url: "redis://u:secret@h1?max_claims=0", err: "max_claims is not a number from 1 up"},
		{url: "mysql://u:secret@tcp(h1:3306)/locks?max_waiters=x", err: "max_waiters is not a number from 1 up"},
		{url: "postgres://u:secret@h1/locks?prefix=A-", err: `the prefix "A-"`},

		{url: "quorum:redis://:secret@h1|redis://h2|redis://h3|replicas=1", err: `no option "replicas"`},

		{url: "quorum:memory://|timeout=secret", err: "timeout is not a positive duration"},
		{url: "quorum:redis://:secret@h1|redis://:secret@h2", err: "odd"},
		{url: "quorum:redis://:secret@h1|redis://secret@h2|redis://h3", err: "member 2 of the quorum: redisstore"},
		{url: "quorum:redis://:secret@h1|redis://h2|redis://:secret@h1", err: "member 3 of the quorum: it is member 1 again"},
		{url: "quorum:redis://:secret@h1|off://|redis://h3", err: "off cannot be a member"},

		{url: "redis://:secret@127.0.0.1", password: "secret", err: "must not contain one"},
		{url: "mysql://user:secret@tcp(db.example)/locks", password: "secret", err: "must not contain one"},
		{url: "etcd://h1/locks", password: "secret", err: "names no user"},
		{url: "quorum:redis://h1|redis://:secret@h2|redis://h3", password: "secret", err: "member 2 of the quorum: a password"},
	} {
		_, err := anystore.Open(t.Context(), tt.url, append(kinds, anystore.WithPassword(tt.password))...)
		if !errors.Is(err, anystore.ErrURL) || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want an ErrURL that says %q and no secret", tt.url, err, tt.err)
		}
	}
}

// An unencoded password shows in no error, whatever else is wrong, and in no store that opens
// nevertheless.
func TestOpen_showsNoPassword(t *testing.T) {
	for _, form := range []string{
		"redis://user:PASSWORD@127.0.0.1:6379/0", "rediss://:PASSWORD@127.0.0.1", "redis+cluster://user:PASSWORD@127.0.0.1:1",
		"redis+sentinel://user:PASSWORD@main@127.0.0.1:1", "mysql://user:PASSWORD@tcp(127.0.0.1:1)/locks",
		"postgres://user:PASSWORD@127.0.0.1:1/locks", "zk://user:PASSWORD@127.0.0.1:1/locks", "etcds://user:PASSWORD@h1:99999/locks",
		"quorum:redis://127.0.0.1:1|redis://:PASSWORD@127.0.0.1:2|memory://",
	} {
		for _, password := range []string{"secret", "12/secret", "12#secret", "12?secret", "a@secret", "a:secret", "%secret", "1,secret", "12?a=b&secret"} {
			url := strings.Replace(form, "PASSWORD", password, 1)
			for _, url := range []string{url, url + "99999", url + "?other=1", url + "?timeout=-1s", url + "?ca_file=/no/such.pem&sslmode=odd"} {
				store, err := anystore.Open(t.Context(), url, kinds...)
				switch {
				case err != nil && (!errors.Is(err, anystore.ErrURL) || strings.Contains(err.Error(), "secret")):
					t.Errorf("%s: %v, want an ErrURL without the password", url, err)
				case err == nil && strings.Contains(store.String(), "secret"):
					t.Errorf("%s is shown as %v", url, store)
				}
				if err == nil {
					if err := store.Close(t.Context()); err != nil {
						t.Errorf("%s: Close: %v", url, err)
					}
				}
			}
		}
	}
}
