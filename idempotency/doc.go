// Package idempotency lets clients send a request again without its effect taking place twice. It
// is a gin middleware for the header Idempotency-Key, as the IETF draft
// draft-ietf-httpapi-idempotency-key-header describes it. [Once] does the same for consumers of
// messages, and for jobs.
//
// A client makes up a key for what it wants done, and sends it with the request and with each
// repetition. The first request runs. One that comes while it runs waits, and gets 409 if that
// takes too long. A later one gets the recorded answer.
//
// What tells a repetition from the first request is a row of a table, in the database of the
// effects:
//
//   - [Keys.Handle] claims the key, before the route's locks are taken: it inserts the row, and
//     commits that. A claim has a lease, after which a repetition may take it over.
//   - In the transaction of the effect, [Record] writes the answer into the row.
//   - In each transaction that is committed under the request's context without it, Handle notes
//     in the row that something has taken place.
//   - After the handler, Handle records what was answered, unless Record did.
//
// So a crash at any point leaves one of three things: a claim without an effect, which a repetition
// takes over once its lease has ended; an effect with its answer; or an effect whose answer is
// lost, of which a repetition is told. A claim that was taken over cannot commit anything any more.
// Nothing here depends on the clocks of the instances.
//
// For requests, the plugin of package gormplugin has to be in use on the database, by every
// gorm.DB: it knows the transactions. It rolls back what would be committed in another database,
// where nothing could note it, unless that is begun under [AtLeastOnce]. What a handler does
// elsewhere, by statements without a transaction, or in a transaction that was begun under another
// context than the request's, is done at least once.
package idempotency
