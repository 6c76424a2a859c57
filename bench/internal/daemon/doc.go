// Package daemon runs a server program for a measurement: on a free port of the loopback interface,
// in a folder of its own, until it is stopped.
package daemon
