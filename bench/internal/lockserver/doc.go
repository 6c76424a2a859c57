// Package lockserver runs the servers of lock stores for a measurement: PostgreSQL, ZooKeeper and
// etcd, each on a free port of the loopback interface with an empty data folder. None of them waits
// for its disk.
package lockserver
