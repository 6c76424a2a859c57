// Package anystore opens the lock store that a URL names, so that a program changes its store
// without a change of its code. A program that always uses the same store needs only the package of
// that store, and none of the clients of the others.
//
//	store, err := anystore.Open(ctx, os.Getenv("LOCKS"), anystore.WithPassword(os.Getenv("LOCKS_PASSWORD")))
//	if err != nil {
//		return err // it quotes no more of the URL than its options
//	}
//	defer func() { _ = store.Close(ctx) }()
//	locker := pathlock.New(store)
//
// # The URLs
//
//	memory://                                                this process only
//	off://                                                   no locks at all
//	redis://[user:password@]host[:port][/db]                 a single Redis
//	redis+cluster://[user:password@]host1,host2              a cluster, by some of its nodes
//	redis+sentinel://[user:password@]name@host1,host2[/db]   the primary called name
//	rediss:// rediss+cluster:// rediss+sentinel://           the same with TLS
//	mysql://user:password@tcp(host:3306)/name                MySQL and MariaDB
//	postgres://user:password@host:5432/name                  PostgreSQL
//	sqlite://PATH                                            the SQLite file PATH-locks
//	zk://[user:password@]host1,host2[/root]                  ZooKeeper; zks:// with TLS
//	etcd://[user:password@]host1,host2[/prefix]              etcd; etcds:// with TLS
//	quorum:URL|URL|URL[|timeout=1s]                          an odd number of the others
//
// [WithScheme] adds those of a program's own stores.
//
// The documentation of a store's Open says which options may follow as a query. That of the stores
// in SQL is sqlopen's. With TLS, Redis, ZooKeeper and etcd have the same: ca_file, the authorities
// to trust instead of the system's, cert_file and key_file, this client's certificate, and
// server_name, the name in the servers' certificates if it is not their host.
//
// # Databases
//
// The tables of the locks are made before the first use of a store if they are missing, by any
// number of processes at once. For that, the user needs the right to create tables.
//
// A transaction in a SQLite file keeps everybody else from writing there, even the locks that the
// same transaction waits for. So PATH may be the file with a program's data: the locks are in a
// file of their own beside it.
//
// # Passwords
//
// No error and no [Store.String] has a password in it. In a user or a password in a URL,
// percent-encode the characters / ? # @ : % , and |, but in none of MySQL. [WithPassword] takes the
// password as it is.
package anystore
