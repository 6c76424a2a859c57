// Package lua runs Lua scripts on Redis.
//
//	Script   its text, its SHA-1, and how its reply is read
//	  Run      EVALSHA; sends what the server does not know, waits while a slot moves
//	Counted  an argument that knows how often it was written
package lua
