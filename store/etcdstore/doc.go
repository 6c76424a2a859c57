// Package etcdstore is the lock store in etcd.
package etcdstore
