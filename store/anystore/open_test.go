package anystore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/store/anystore"
)

// opening is a URL, and what comes of it: what the store is shown as, or what the error says.
type opening struct{ url, password, shown, err string }

func TestURLsThatNameAStore(t *testing.T) {
	for _, tt := range []opening{
		{url: "memory://", shown: "memory:// (this process only)"},
		{url: "off://", shown: "off:// (no locks)"},
		{url: "redis://127.0.0.1:6379/0", shown: "redis://127.0.0.1:6379/0"},
		{url: "redis://user:secret@127.0.0.1:6379/0?pool_size=3", shown: "redis://127.0.0.1:6379/0"},
		{url: "rediss://:secret@redis.example:6380", shown: "rediss://redis.example:6380"},
		{url: "redis+cluster://user:secret@h1:1,h2:2,h3:3", shown: "redis+cluster://h1:1,h2:2,h3:3"},
		{url: "redis+sentinel://main@h1,h2", shown: "redis+sentinel://main@h1,h2"},
		{url: "redis+sentinel://user:secret@main@h1,h2", shown: "redis+sentinel://main@h1,h2"},
		{url: "mysql://user:secret@tcp(db.example:3306)/locks?tls=true", shown: "mysql://db.example:3306/locks"},
		{url: "mysql://user:s/e?c@r:e(t)@unix(/tmp/mysql.sock)/locks", shown: "mysql:///tmp/mysql.sock/locks"},
		{url: "postgres://user:secret@db.example/locks", shown: "postgres://db.example:5432/locks"},
		{url: "postgresql://user:secret@db.example:5433/locks?sslmode=disable", shown: "postgres://db.example:5433/locks"},
		{url: "sqlite://some.db", shown: "sqlite://some.db-locks"},
		{url: "sqlite://some.db?timeout=3s", shown: "sqlite://some.db-locks"},
		{url: "sqlite:///var/lib/a b#c%.db", shown: "sqlite:///var/lib/a b#c%.db-locks"},
		{url: "zk://h1,h2:2182,h3/locks/app", shown: "zk://h1,h2:2182,h3/locks/app"},
		{url: "zks://user:secret@h1?timeout=3s", shown: "zks://h1"},
		{url: "etcd://h1,h2:2380,h3/locks/app", shown: "etcd://h1,h2:2380,h3/locks/app"},
		{url: "etcds://h1?timeout=3s", shown: "etcds://h1"},
		{url: "mysql://user@tcp(db.example:3306)/locks?tls=true", password: "secret/#?@%:,|()", shown: "mysql://db.example:3306/locks"},
		{url: "postgres://user@db.example/locks", password: "secret/#?@%:,|()", shown: "postgres://db.example:5432/locks"},
		{url: "zk://user@h1,h2/locks", password: "secret/#?@%:,|()", shown: "zk://h1,h2/locks"},
		{url: "quorum:redis://u:secret@h1/0?pool_size=3|redis+sentinel://u:secret@main@h2|memory://", shown: "quorum:redis://h1/0|redis+sentinel://main@h2|memory:// (this process only)"},
		{url: "quorum:redis://h1|redis://h2|memory://|timeout=1s", shown: "quorum:redis://h1|redis://h2|memory:// (this process only)"},
		{url: "quorum:memory://", shown: "quorum:memory:// (this process only)"},
		{url: "quorum:memory://|memory://|memory://", shown: "quorum:memory:// (this process only)|memory:// (this process only)|memory:// (this process only)"},
		{url: "quorum:redis://h1|redis://u@h2|redis+cluster://h3,h4", password: "secret/|#?@%:", shown: "quorum:redis://h1|redis://h2|redis+cluster://h3,h4"},
		{url: "quorum:redis://h1|redis://u@h2|redis://h3|timeout=1s", password: "secret/|#?@%:", shown: "quorum:redis://h1|redis://h2|redis://h3"},

		{url: "redis://127.0.0.1:6379/0", password: "secret/#?@%:", shown: "redis://127.0.0.1:6379/0"},
		{url: "redis://user@127.0.0.1:6379/0?pool_size=3", password: "secret/#?@%:", shown: "redis://127.0.0.1:6379/0"},
		{url: "redis+cluster://h1,h2", password: "secret/#?@%:", shown: "redis+cluster://h1,h2"},
		{url: "redis+sentinel://main@h1,h2", password: "secret/#?@%:", shown: "redis+sentinel://main@h1,h2"},
		{url: "redis+sentinel://user@main@h1,h2", password: "secret/#?@%:", shown: "redis+sentinel://main@h1,h2"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			store, err := anystore.Open(t.Context(), tt.url, anystore.WithPassword(tt.password))
			if err != nil {
				t.Fatal(err)
			}
			if store.String() != tt.shown {
				t.Errorf("it is shown as %q, want %q", store, tt.shown)
			}
			if scheme, _, _ := strings.Cut(tt.url, ":"); store.Scheme() != scheme {
				t.Errorf("its scheme is %q, want %q", store.Scheme(), scheme)
			}
			if err := store.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// Whatever is wrong with a URL, and wherever its password is, the error says what, and quotes no
// more of the URL than its options.
func TestURLsThatNameNone(t *testing.T) {
	const supported = "supported are memory://, "
	for _, tt := range []opening{
		{url: "", err: supported},
		{url: "memory", err: supported},
		{url: "secret", err: supported},
		{url: "secret://127.0.0.1", err: supported},
		{url: "secret@redis://127.0.0.1:6379/0", err: supported},
		{url: "://secret", err: supported},

		{url: "redis:/:secret@127.0.0.1:6379/0", err: supported},
		{url: "redis:secret@127.0.0.1:6379/0", err: supported},
		{url: "redis://user:secret@127.0.0.1:port", err: "redis URL"},
		{url: "redis://:12/secret@127.0.0.1:6379/0", err: "%2F"},
		{url: "redis://:12#secret@127.0.0.1:6379/0", err: "%23"},
		{url: "redis://:12?secret@127.0.0.1:6379/0", err: "%3F"},
		{url: "redis://:secret@127.0.0.1?other=1", err: "option: other"},
		{url: "redis://:12/secret@127.0.0.1?other=1", err: "%2F"},
		{url: "redis+cluster://:secret@h1,h2?other=1", err: "option: other"},
		{url: "redis+sentinel://u:secret@main@h1?other=1", err: "option: other"},
		{url: "redis://:secret@127.0.0.1?pool_size=many", err: "pool_size"},
		{url: "redis://:secret@127.0.0.1/two", err: "database number"},
		{url: "redis://:secret@127.0.0.1:99999", err: "a port from 1 to 65535"},
		{url: "redis+cluster://:secret@h1,h2:99999", err: "a port from 1 to 65535"},
		{url: "redis+sentinel://u:secret@main@h1:99999", err: "a port from 1 to 65535"},
		{url: "redis://:secret@127.0.0.1?ca_file=ca.pem", err: "ca_file is for connections with TLS"},
		{url: "rediss://:secret@127.0.0.1?ca_file=/no/such.pem", err: "ca_file: open /no/such.pem"},
		{url: "rediss://:secret@127.0.0.1?cert_file=my.pem", err: "cert_file and key_file belong together"},
		{url: "redis://secret@127.0.0.1:6379/0", err: "names a user without a password"},
		{url: "rediss://secret:@127.0.0.1:6379/0", err: "names a user without a password"},
		{url: "redis+cluster://secret@h1,h2", err: "names a user without a password"},
		{url: "redis+sentinel://secret@main@h1,h2", err: "names a user without a password"},
		{url: "quorum:redis://:secret@h1|redis://secret@h2|redis://h3", err: "member 2 of the quorum: redisstore: the URL names a user without a password"},
		{url: "redis+cluster://u:12#secret@h1,h2", err: "%23"},
		{url: "redis+cluster://u:12/secret@h1,h2", err: "%2F"},
		{url: "redis+sentinel://h1,h2", err: "name"},
		{url: "redis+sentinel://u:secret@h1,h2", err: "names the primary"},
		{url: "redis+sentinel://u:12/secret@main@h1,h2", err: "%2F"},
		{url: "redis+sentinel://u:12#secret@main@h1,h2", err: "%23"},

		{url: "mysql:user:secret@tcp(db.example)/locks", err: supported},
		{url: "mysql://user:secret@db.example/locks", err: "the MySQL DSN makes no sense"},
		{url: "mysql://user:secret@tcp(db.example:3306)/", err: "names no database"},
		{url: "mysql://secret", err: "the MySQL DSN makes no sense"},
		{url: "mysql://user:secret@tcp(db.example:99999)/locks", err: "a port from 1 to 65535"},
		{url: "mysql://user:secret@tcp(db.example)/locks?tls=true&timeout=secret", err: "option timeout makes no sense"},
		{url: "mysql://user:12?a=b&timeout=secret@tcp(db.example)", err: "the MySQL DSN makes no sense"},
		{url: "mysql://user:secret@tcp(db.example)/locks", password: "secret", err: "must not have one"},
		{url: "mysql://tcp(db.example)/locks", password: "secret", err: "names no user"},
		{url: "mysql://secret", password: "secret", err: "names no user"},
		{url: "postgres://user:secret@127.0.0.1:port/locks", err: "a port from 1 to 65535"},
		{url: "postgres://user:12/secret@127.0.0.1/locks", err: "%2F"},
		{url: "postgres://user:12?sslmode=secret@127.0.0.1/locks", err: "%3F"},
		{url: "postgres://user:secret@127.0.0.1,[::1]:99999/locks", err: "a port from 1 to 65535"},
		{url: "postgres://user:secret@127.0.0.1/locks?connect_timeout=soon", err: "connect_timeout"},
		{url: "postgres://user:secret@127.0.0.1/locks?sslmode=odd&password=secret", err: "sslmode is invalid"},
		{url: "postgres://user:secret@127.0.0.1/", err: "names no database"},
		{url: "postgres://user:secret@127.0.0.1/locks", password: "secret", err: "must not have one"},
		{url: "sqlite://", err: "sqlite://PATH"},
		{url: "sqlite://:memory:", err: "sqlite://PATH"},
		{url: "sqlite://some.db?mode=ro", err: `a SQLite file has no option "mode"`},
		{url: "sqlite://some.db?timeout=2s&cache=shared", err: `a SQLite file has no option "cache"`},
		{url: "sqlite://some.db?timeout=secret", err: "timeout is no positive duration"},
		{url: "redis://:secret@127.0.0.1:6379?timeout=-1s", err: "timeout is no positive duration"},
		{url: "postgres://user:secret@127.0.0.1/locks?timeout=5", err: "timeout is no positive duration"},
		{url: "sqlite://some.db", password: "secret", err: "sqlite:// is a lock store without a password"},
		{url: "zk://", err: "server"},
		{url: "zk://secret@h1", err: "names a user without a password"},
		{url: "zk://user:12/secret@h1", err: "%2F"},
		{url: "zk://user:12#secret@h1", err: "%23"},
		{url: "zk://user:12?secret@h1", err: "%3F"},
		{url: "zk://user:secret@h1?other=1", err: `option "other" is none of timeout`},
		{url: "zk://user:secret@h1?timeout=secret", err: "timeout"},
		{url: "zk://user:secret@h1?ca_file=ca.pem", err: "ca_file is for connections with TLS"},
		{url: "zk://user:secret@h1:99999", err: "a port from 1 to 65535"},
		{url: "zk://h1/locks", password: "secret", err: "names no user"},
		{url: "zk://user:secret@h1/a/../b", err: "the root is the path of a znode"},
		{url: "zk://user:p@ss/secret@h1/locks", err: "%2F"},
		{url: "zk://h1:secret", err: "a port from 1 to 65535"},
		{url: "zk://user:secret@h1/locks", password: "secret", err: "must not have one"},

		{url: "etcd://", err: "a server is host or host:port"},
		{url: "etcd://secret@h1", err: "names a user without a password"},
		{url: "etcd://secret:@h1", err: "names a user without a password"},
		{url: "etcd://user:12/secret@h1", err: "%2F"},
		{url: "etcd://user:12#secret@h1", err: "%23"},
		{url: "etcd://user:12?secret@h1", err: "%3F"},
		{url: "etcd://user:secret@h1?other=1", err: "other"},
		{url: "etcd://user:secret@h1:99999", err: "a port from 1 to 65535"},
		{url: "etcd://h1/locks", password: "secret", err: "names no user"},
		{url: "etcd://user:secret@h1?max_txn_ops=1", err: "max_txn_ops"},
		{url: "etcd://user:secret@h1/locks", password: "secret", err: "must not have one"},

		{url: "quorum:memory://|timeout=secret", err: "timeout is no positive duration"},
		{url: "quorum:", err: "member 1 of the quorum: its scheme is unknown"},
		{url: "quorum://redis://:secret@h1", err: "member 1 of the quorum: its scheme is unknown"},
		{url: "quorum", err: supported},
		{url: "quorum:redis://:secret@h1|redis://:secret@h2", err: "odd"},
		{url: "quorum:redis://:secret@h1|secret@redis://h2|redis://h3", err: "member 2 of the quorum: its scheme is unknown"},
		{url: "quorum:redis://:a|secret@h1|redis://h2", err: "member 2 of the quorum: its scheme is unknown"},
		{url: "quorum:redis://:secret@h1|redis://:a#secret@h2|redis://h3", err: "member 2 of the quorum: redisstore"},
		{url: "quorum:redis://:secret@h1|redis://h2|redis://:secret@h1", err: "member 3 of the quorum: it is member 1 again"},
		{url: "quorum:redis://:secret@h1|off://|redis://h3", err: "off cannot be a member"},
		{url: "quorum:redis://:secret@h1|quorum:redis://h2|redis://h3", err: "quorum cannot be a member"},
		{url: "quorum:redis://h1|redis://:secret@h2|redis://h3", password: "secret", err: "member 2 of the quorum: the password"},
		{url: "quorum:redis://h1|memory://|redis://h3", password: "secret", err: "member 2 of the quorum: memory://"},

		{url: "redis://:secret@127.0.0.1", password: "secret", err: "must not have one"},
		{url: "redis+sentinel://u:secret@main@h1", password: "secret", err: "must not have one"},
		{url: "memory://", password: "secret", err: "memory:// is a lock store without a password"},
		{url: "memory://?timeout=1s", err: "nothing follows memory://"},
		{url: "off://locks", err: "nothing follows off://"},
		{url: "off://", password: "secret", err: "off:// is a lock store without a password"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			_, err := anystore.Open(t.Context(), tt.url, anystore.WithPassword(tt.password))
			if !errors.Is(err, anystore.ErrURL) || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want an ErrURL that says %q and no secret", err, tt.err)
			}
		})
	}
}
