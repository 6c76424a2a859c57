// Package zkstore is the lock store in ZooKeeper.
package zkstore
