// Package lua runs Lua scripts on Redis.
//
//	Script   its text, its SHA-1, and how its reply is read
//	  Run      EVALSHA; loads what the server does not know, waits while a slot moves
//	Runner   sends one command: a client's own way, or a Pipeline's
//	Pipeline sends together what many goroutines have to send at once
//	Counted  an argument that knows how often it was written
//
// A [Lane] keeps commands apart that must not wait for each other.
package lua
