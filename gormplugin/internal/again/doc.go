// Package again tries transactions and statements again that the database has given up in favour of
// others: [Persist] and [Retry] say how often, and with which pauses. A [Memento] restores the
// values that a caller handed over, so that each try begins with what the first one began with. A
// [Journal] has the mementos of all statements of a transaction.
package again
