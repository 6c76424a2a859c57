// Package redisserver starts a Redis on the loopback interface, and reads the counters of any
// Redis.
package redisserver
