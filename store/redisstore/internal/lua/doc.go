// Package lua runs Lua scripts on Redis.
//
//	Script   its text, its SHA-1, and how its reply is read
//	  Run      EVALSHA; loads what the server does not know, waits while a slot moves
//	Runner   sends one command
//	Counted  an argument that knows how often it was written
package lua
