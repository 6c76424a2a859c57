// Package idempotency lets clients repeat a request that must take effect only once. It is gin
// middleware for the header Idempotency-Key, as the IETF draft
// draft-ietf-httpapi-idempotency-key-header describes it. [Once] does the same for consumers of
// messages, and for jobs.
//
// A client invents a key for one piece of work, and sends it with the request and with each
// repetition. The first request runs. A repetition that arrives meanwhile waits, and gets 409 if
// that takes too long. A later repetition gets the recorded answer.
//
// A row of a table, in the same database as the effects, tells a repetition from the first request:
//
//   - [Keys.Handle] claims the key, before the route's locks are taken: it inserts the row, and
//     commits that. A claim has a lease, after which a repetition may take it over.
//   - In the transaction of the effect, [Record] writes the answer into the row.
//   - In each transaction committed under the request's context without [Record], Handle notes in
//     the row that something has taken effect.
//   - After the handler, Handle records the answer, unless Record did.
//
// So a crash at any point leaves one of three things: a claim without an effect, which a repetition
// takes over once its lease has ended; an effect with its answer; or an effect whose answer is
// lost, in which case a repetition learns that. A request whose claim was taken over can no longer
// commit anything. Nothing depends on the clocks of the instances.
//
// For requests, every gorm.DB on the database must use the plugin of package gormplugin, which
// knows the transactions. In another database nothing could note the effect, so the plugin rolls
// such transactions back, unless they begin under [AtLeastOnce]. Three things may happen more than
// once: what a handler does elsewhere, statements without a transaction, and transactions begun
// under another context than the request's.
package idempotency
