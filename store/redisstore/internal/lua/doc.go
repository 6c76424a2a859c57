// Package lua runs Lua scripts on Redis.
//
//	Script   its text, its SHA-1, and how its reply is read
//	  Ask      EVALSHA; sends what the server does not know
//	Counted  an argument that knows how often it was written
package lua
