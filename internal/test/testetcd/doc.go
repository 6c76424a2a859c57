// Package testetcd starts etcd servers for tests: single ones, and clusters whose members are
// killed, paused (SIGSTOP), started again and cut off.
//
// The server is a current etcd. It is built from its Go module once, by the module etcdserver
// below, which takes about a minute with an empty build cache. Every server listens on free ports
// of the loopback interface, keeps its data in a folder of its own, and is killed at the end of the
// test, by its process id.
package testetcd
