// Package middleware is Gin middleware that takes locks around a route's
// handler, as the route's [lockspec.Spec] says.
//
//	request ─► values ─► resolve ids to paths ─► acquire ─► resolve again
//	             │400/413        │400/404           │423/503      │ same? ── no ─► let go, pause, start over
//	             │               │                  │             ▼ yes                       (409 after the last)
//	             ▼               ▼                  ▼          handler, under a context that carries the locks
//	         problem+json    problem+json       problem+json      │
//	                                                              ▼
//	                                                           release: after the handler, on panic too,
//	                                                           in the background of the response
//
// The context of the handler's request carries the locks: package gormplugin
// finds them there and takes none of its own, and an acquisition of the handler's
// re-enters. It ends when a lease is lost, with a cause that matches [pathlock.ErrLost].
//
// # What it costs
//
// One round trip to the lock store, for the acquisition. The response does not wait for the release: a program that ends
// calls [pathlock.Locker.Shutdown] after its server's. The next request of the same process is not refused because
// of a release that is under way; one of another process that is not to wait may be.
//
// Each id is resolved twice, before the locks and under them. [Config.Asserted] saves the second time on routes whose writes are
// asserted in the database.
//
// A value, that of a [lockspec.Func] included, is looked for once per request. What may change while
// the request waits, such as the parent of a node, is not for a Func to find but for a resolver.
//
// # Clients that go away
//
// A client that goes away while its request waits leaves the queue at once. net/http notices it once the
// request's body has been read to the end; so for a spec that needs no value of the body, a request that has one all the same
// stays in the queue until its wait is over.
//
// # Failures
//
// Failures are answered as application/problem+json (RFC 9457), by
// [Locks.Fail], which handlers may use for their own errors, or by whatever [Config.OnError] is.
package middleware
