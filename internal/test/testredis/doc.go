// Package testredis starts Redis and valkey servers for tests that need more than one server, or
// that disturb it: a single server, a primary with replicas, the same under sentinels, and a
// cluster.
//
// Every server listens on a free port of the loopback interface, works in a folder of its own below
// t.TempDir(), keeps nothing on disk, and is killed at the end of the test, by its process id. A
// server can be stopped, killed, paused (SIGSTOP), resumed and started again; a cluster's slots can
// be moved step by step, and primaries failed over on request.
//
// Where a server program is not installed, the test is skipped as package testserver says, and
// fails in CI.
package testredis
