// Package anystore opens the lock store that a URL names, so that a program changes its store
// without a change of its code. A program that always uses the same store needs only the package of
// that store, and none of the clients of the others.
//
//	store, err := anystore.Open(ctx, os.Getenv("LOCKS"), anystore.WithPassword(os.Getenv("LOCKS_PASSWORD")))
//	if err != nil {
//		return err // it quotes no part of the URL
//	}
//	defer func() { _ = store.Close(ctx) }()
//	locker := pathlock.New(store)
//
// # The URLs
//
//	memory://                                                this process only
//	off://                                                   no locks at all
//	redis://[user:password@]host[:port][/db]                 rediss:// with TLS
//	redis+cluster://[user:password@]host1,host2              a cluster, by some of its nodes
//	redis+sentinel://[user:password@]name@host1,host2[/db]   the primary called name
//
// The documentation of a store's Open says which options may follow as a query.
//
// # Passwords
//
// No error and no [Store.String] has a password in it. In a URL, percent-encode / ? # @ : % and |
// of a user and a password. [WithPassword] takes the password as it is.
package anystore
