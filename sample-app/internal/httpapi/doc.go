// Package httpapi is the HTTP interface of the test-plan backend.
//
// Every request passes the same stations: its ids and its body are read and
// checked, then the locks that the route table says are taken (package middleware),
// then the service does the work, and a failure becomes a problem+json answer.
package httpapi
