// Package calls sees to it that every call on Redis ends in time, and takes back what calls leave
// behind.
//
//	Caller   counts the commands under way, so that closing can wait for them
//	Do       one command, with a deadline that the client gives its connection
//	Request  what a command asks for; if the command fails, the request is taken back: it is
//	         withdrawn, again and again, until the server answers
package calls
