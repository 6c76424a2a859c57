// Package fscktest is the test suite of package fsck, to be run on each database: every kind of
// damage, what is found and what is made of it, random trees with random damage against a checker
// that shares no code, and repairs that are killed.
package fscktest
