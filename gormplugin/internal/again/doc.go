// Package again runs what the database has given up in favour of others again: [Persist] and
// [Retry] say how often and with which pauses. A [Memento] puts the values that a caller has handed
// over back to what they were, so that each try begins with what the first began with; a [Journal]
// has those of all statements of a transaction.
package again
