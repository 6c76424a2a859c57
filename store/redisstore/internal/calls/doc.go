// Package calls sees to it that every call on Redis ends in time, and takes back what calls leave
// behind.
//
//	Caller   counts the commands under way, so that closing can wait for them
//	Do       one command, on a goroutine that its caller can leave behind
//	Request  what a command asks for; if the command fails or is left, the request is taken back:
//	         it is withdrawn, again and again, until the server answers
//
// A client gives a command up only at its context's deadline, and some clients not even then. The
// caller's time does not depend on it.
package calls
