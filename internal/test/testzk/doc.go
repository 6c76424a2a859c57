// Package testzk starts ZooKeeper servers for tests: a single one, and an ensemble of three.
//
// Every server listens on free ports of the loopback interface, keeps its data in a folder of its
// own, and is killed at the end of the test, by its process id. A server can be stopped, killed,
// paused (SIGSTOP), resumed and started again with the same data.
//
// It needs java and the package libzookeeper-java of Debian. Where one of them is missing, the test
// is skipped as package testserver says, and fails in CI.
package testzk
