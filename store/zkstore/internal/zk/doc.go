// Package zk is a ZooKeeper client as a lock store needs it: one session for a whole process.
//
//	Client      Do, Watch, Session, Close; keeps the session over connections  client.go, watch.go
//	 │ link     one connection: handshake, requests in order, heartbeats       link.go, handshake.go
//	 │ Op       the requests and their answers                                 ops.go, multi.go
//	 └ jute     ZooKeeper's encoding                                           jute.go
//
// Every call ends with its context, and a server that does not answer in time is left for another
// one. Requests are sent in the order of the calls, many at a time. A session that is lost is
// followed by a new one, and all watches are set again.
//
// The client tells what a lock store has to know: which session a request was sent in, how long
// that session is certain to live, and when a request was sent and answered.
package zk
