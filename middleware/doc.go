// Package middleware is Gin middleware that takes locks around a route's
// handler, as the route's [lockspec.Spec] says.
//
//	request ─► body, values ─► resolve ids to paths ─► Authorize ─► acquire ─► resolve again
//	              │400/408        │400/404                │403         │423/503      │ same? ── no ─► Authorize, acquire under
//	              │413/415        │                       │            │             ▼ yes            the locks, let the old ones go
//	              ▼               ▼                       ▼            ▼          handler, under a context that carries the locks
//	          problem+json    problem+json            problem+json  problem+json    │                (409 after the last try)
//	                                                                                ▼
//	                                                                             release: after the handler, on panic too,
//	                                                                             in the background of the response
//
// # The handler's context
//
// The context of the handler's request carries the locks: package gormplugin finds them there and
// takes none of its own, and an acquisition of the handler's re-enters. It ends when a lease is
// lost, with a cause that matches [pathlock.ErrLost], and when the locks are held for longer than
// [Config.MaxHold], with [ErrHeldTooLong]. So handlers pass it on:
//
//	db.WithContext(c.Request.Context()).Model(&suite).Update("name", name)
//
// gin's own context, c, carries the locks too, whatever gin's ContextWithFallback says, until the
// request is over; and its copies do so for as long. A statement with no context at all does not
// know of the locks: see gormplugin.ErrNoRequestContext.
//
// Afterwards, outer middleware finds the request as it would without locks: with the form that was
// parsed, the values that inner middleware has put into its context, and without the locks.
//
// # Who may
//
// Authentication belongs into middleware before this one, and what depends on the node into
// [Config.Authorize]. Without them, anybody learns which ids exist (404) and who works where (423,
// 409), and makes others wait, before a handler can say 403. [Config.Redact] decides what refusals
// show of places and holders.
//
// # Several trees
//
// All or nothing is said of one tree. A request that needs several waits for one of them while it
// holds none, and takes the others if they are free; in the end it waits in an order that is the
// same for everybody, with what it has. [Config.Wait] bounds all of it.
//
// # Locks that outlive a request
//
// A request may carry the token of a hold that [pathlock.Lock.Detach] or [Locks.Detach] has made:
// see [Config.Token]. It attaches the hold as soon as its spec locks in the token's tree, without
// renewing it, and takes everything as the hold's owner: its holder's requests pass, and the others
// are told the holder. At the end of the request the hold stays. One whose holder moves a node goes
// along with it, where the spec knows the new path: what the hold has there is taken first, and
// left with it if the node is found elsewhere afterwards.
//
// Requests with one token are one owner, in every tree that they lock in. A token that only an
// inner one of nested specs has a use for is refused: put the specs into one by [lockspec.All].
//
// The middleware tells nobody the token. gin.Recovery does: it logs the headers of a request whose
// connection broke. Give it a function of your own, or no writer.
//
// # What it costs
//
// One round trip to the lock store, for the acquisition, and one more where a token is attached.
// The response does not wait for the release: a program that ends calls [pathlock.Locker.Shutdown]
// after its server's. The next request of the same process is not refused because of a release that
// is under way; one of another process that is not to wait may be.
//
// Each id is resolved twice, before the locks and under them. [lockspec.Spec.Asserted] saves the
// second time on routes whose writes are asserted in the database.
//
// A value, that of a [lockspec.Func] included, is looked for once per request. What may change
// while the request waits, such as the parent of a node, is not for a Func to find but for a
// resolver.
//
// # Which values a source has
//
// The handler must not read another value than the one that was locked. So a source reads what gin
// binds for the request's content type, whichever of gin's methods the handler calls, or the
// request is refused:
//
//   - A [lockspec.JSON] source reads bodies of application/json and of [Config.JSONTypes]. A
//     request without a content type gets application/json, since [gin.Context.ShouldBind] would
//     take it for a form. Any other type is answered with 415.
//   - A [lockspec.Form] source reads url-encoded and multipart forms, others are answered with 415.
//     The first of several values counts, as it does for gin. (gin's binding.FormPost is for
//     url-encoded forms alone: it finds nothing in a multipart one.) A field that is also in the
//     query, or only there, or a file, is answered with 400.
//   - Several content types, a malformed one, and a charset other than UTF-8 are answered with 415.
//     gin knows types in lower case only: one in other letters is rewritten before the handler sees
//     it.
//   - gin binds the query and not the body of a GET, and nobody reads that of a HEAD: 400.
//   - A body that middleware before has read by [gin.Context.ShouldBindBodyWith] is the one that
//     gin keeps, for sources and for the handler.
//   - A [lockspec.Query] source reads what [gin.Context.Query] does, and the body does not matter
//     to it: a handler that binds a form by [gin.Context.ShouldBind] would look there first.
//   - A request without a body lacks the values, which is fine where they are optional.
//
// How JSON is read, and what is refused there, is said by [lockspec.JSONFields]. A handler that
// changes a value before it uses it wants [lockspec.Source.Map]. A [lockspec.Func] finds gin's
// context by [GinContext].
//
// # Clients that go away
//
// A client that goes away while its request waits leaves the queue at once. net/http notices it
// once the request's body has been read to the end; so a request with a body longer than
// [Config.MaxBody], of which the spec needs no value, stays in the queue until its wait is over.
//
// # Failures
//
// Failures are answered as application/problem+json (RFC 9457), by [Locks.Fail], which handlers may
// use for their own errors, or by whatever [Config.OnError] is.
package middleware
