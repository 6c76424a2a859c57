// Package httpapi is the HTTP interface of the test-plan backend.
//
// Each request passes four stations. Its ids and its body are read and checked. Package middleware
// takes the locks that the route table names. The service does the work. A failure becomes a
// problem+json answer.
package httpapi
