// Package redisserver runs a Redis of its own on the loopback interface, and reads the counters of
// any Redis.
package redisserver
