// Package middleware is Gin middleware that takes locks around a route's handler, as the route's
// [lockspec.Spec] says.
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
// takes none of its own, and the handler's own acquisitions re-enter. The context ends when a lease
// is lost, with a cause that matches [pathlock.ErrLost], and when the locks are held for longer
// than [Config.MaxHold], with [pathlock.ErrHeldTooLong]. gin's own context, c, carries the locks
// too, and so do its copies, until the request is over, whatever gin's ContextWithFallback says.
// For work that goes on after the client has left, use [context.WithoutCancel] of the request's
// context: that of c still ends with the request.
//
// Afterwards, outer middleware finds its own request again, with the parsed form, but without the
// locks and without whatever else inner middleware put into the context.
//
// # Locks that outlive a request
//
// A request may carry the token of a hold that [pathlock.Lock.Detach] or [Locks.Detach] made: see
// [Config.Token]. If its spec locks in the token's tree, the request attaches the hold, without
// renewing it, and takes its locks in that tree as the hold's owner. So the holder's requests pass,
// and others learn who the holder is. The hold stays when the request ends.
//
// If the holder moves a node and the spec knows the new path, the hold follows: the request first
// takes the hold's claims at the new path, and leaves these locks with the hold if the node has
// moved. If two requests move a node at once, the hold may miss the second move.
//
// Requests with the same token are one owner in its tree. If specs are nested and only an inner one
// locks in the token's tree, the request is refused: put the specs into one by [lockspec.All].
//
// The middleware never shows the token, but gin.Recovery does: it logs the headers of a request
// whose connection broke. Give Recovery a function of your own, or no writer.
//
// # What it costs
//
// The acquisition costs one round trip to the lock store, and attaching a token one more. The
// response does not wait for the release. Each id is resolved twice, before the locks and under
// them. On routes whose writes are asserted in the database, [lockspec.Spec.Asserted] saves the
// second time.
//
// Each value is looked up once per request, including that of a [lockspec.Func]. If a value may
// change while the request waits, such as the parent of a node, let a resolver find it, not a Func.
//
// # Which values a source has
//
// The handler must read the same value that was locked. So a source reads what gin binds for the
// request's content type, whichever of gin's methods the handler calls. Where that is impossible,
// the middleware refuses the request:
//
//   - A [lockspec.JSON] source reads bodies of application/json and of [Config.JSONTypes]. A
//     request without a content type gets application/json, since [gin.Context.ShouldBind] would
//     take it for a form. Any other type is answered with 415.
//   - A [lockspec.Form] source reads url-encoded and multipart forms; others are answered with 415.
//     The first of several values counts, as it does for gin. (gin's binding.FormPost is for
//     url-encoded forms alone: it finds nothing in a multipart one.) A field that is in the query
//     is answered with 400, and one that is a file counts as missing.
//   - Several content types, a malformed one, and a charset other than UTF-8 are answered with 415.
//     gin knows only lower-case types, so others are put into lower case before the handler runs.
//   - gin binds the query of a GET, not its body, and nobody reads the body of a HEAD: a request
//     that needs a value from such a body is answered with 400.
//   - If earlier middleware read the body by [gin.Context.ShouldBindBodyWith], sources and handler
//     read the copy that gin keeps. If it read JSON in another way, it must put the body back:
//     otherwise the request is answered with 500. A form that it has parsed stays as it is.
//   - A [lockspec.Query] source reads what [gin.Context.Query] and [gin.Context.ShouldBindQuery]
//     do, whatever the body has. A handler that uses [gin.Context.ShouldBind] or
//     [http.Request.FormValue] would look in the body, too, and there first.
//   - A request without a body lacks the values, which is fine if they are optional.
//
// [lockspec.JSONValues] says how JSON is read, and what is refused there. If your handler changes a
// value before it uses it, use [lockspec.Source.Map]. If your handler or earlier middleware reads
// the body itself, use [Locks.ReadJSON]. A [lockspec.Func] finds gin's context by [GinContext].
//
// # Clients that go away
//
// If a client goes away while its request waits, the request leaves the queue at once. net/http
// notices that only after the request's body has been read to the end. So a request whose body is
// longer than [Config.MaxBody], and whose spec needs no value of it, stays in the queue until its
// wait is over.
//
// # Failures
//
// [Locks.Fail] answers failures as application/problem+json (RFC 9457). Handlers may use it for
// their own errors. [Config.OnError] replaces it.
package middleware
