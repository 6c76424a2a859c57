// Package pubsub hears which waiters of a store have been granted. One channel, on one connection,
// serves all trees; a cluster hands its messages to all of its nodes.
//
// Messages may be missed. The waiters that may have missed one are told so, and ask again.
package pubsub
