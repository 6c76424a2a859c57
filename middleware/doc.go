// Package middleware is Gin middleware that takes locks around a route's
// handler, as the route's [lockspec.Spec] says.
//
//	request ─► values ─► resolve ids to paths ─► acquire ─► resolve again
//	             │400/413/415    │400/404           │423/503      │ same? ── no ─► let go, pause, start over
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
// # Which values a source has
//
// The handler must not read another value than the one that was locked. So a source reads what gin
// binds for the request's content type, whichever of gin's methods the handler calls, or the request
// is refused:
//
//   - A [lockspec.JSON] source reads bodies of application/json and of [Config.JSONTypes]. A request
//     without a content type gets application/json, since [gin.Context.ShouldBind] would take it for a
//     form. Any other type is answered with 415.
//   - A [lockspec.Form] source reads url-encoded and multipart forms, others are answered with 415.
//     The first of several values counts, as it does for gin. A field that is also in the query, or
//     only there, or a file, is answered with 400.
//   - Several content types, a malformed one, and a charset other than UTF-8 are answered with 415. gin
//     knows types in lower case only: one in other letters is rewritten before the handler sees it.
//   - gin binds the query and not the body of a GET, and nobody reads that of a HEAD: 400.
//   - A body that middleware before has read by [gin.Context.ShouldBindBodyWith] is the one that gin
//     keeps, for sources and for the handler.
//   - A [lockspec.Query] source reads what [gin.Context.Query] does, and the body does not matter to it:
//     a handler that binds a form by [gin.Context.ShouldBind] would look there first.
//   - A request without a body lacks the values, which is fine where they are optional.
//
// How JSON is read, and what is refused there, is said by [lockspec.JSONFields]. A handler that changes
// a value before it uses it wants [lockspec.Source.Map]. A [lockspec.Func] finds gin's context by
// [GinContext].
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
