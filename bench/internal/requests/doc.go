// Package requests counts what clients ask of servers: a proxy that knows where a request ends in
// each protocol, and a driver that counts statements where there is no line to put a proxy on.
package requests
