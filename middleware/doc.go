// Package middleware is Gin middleware that takes locks around a route's
// handler, as the route's [lockspec.Spec] says.
//
//	request ─► values ─► resolve ids to paths ─► acquire ─► resolve again
//	             │400/413        │400/404           │423/503      │ same? ── no ─► let go, pause, start over
//	             │               │                  │             ▼ yes                       (409 after the last)
//	             ▼               ▼                  ▼          handler, under a context that carries the locks
//	         problem+json    problem+json       problem+json      │
//	                                                              ▼
//	                                                           release: after the handler, on panic too
//
// The context of the handler's request carries the locks: package gormplugin
// finds them there and takes none of its own, and an acquisition of the handler's
// re-enters. It ends when a lease is lost, with a cause that matches [pathlock.ErrLost].
//
// A client that goes away while its request waits leaves the queue at once. net/http notices it once the
// request's body has been read to the end; so for a spec that needs no value of the body, a request that has one all the same
// stays in the queue until its wait is over.
//
// Failures are answered as application/problem+json (RFC 9457), by
// [Locks.Fail], which handlers may use for their own errors, or by whatever [Config.OnError] is.
package middleware
