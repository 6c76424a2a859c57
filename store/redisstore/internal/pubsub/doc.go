// Package pubsub hears which waiters of a store have been granted.
//
//	Listener      the waiters, and who of them a message is for
//	 subscription one channel: made, made again when it is lost, given up when nobody waits
//	  connection  one node; carries the subscriptions to its channels until the first fault
//
// On a single node and under Sentinel, one channel serves all trees. In a cluster that has sharded
// pub/sub, each tree with waiters has a channel in its own slot.
//
// Messages may be missed. The waiters that may have missed one are told so, and ask again.
package pubsub
