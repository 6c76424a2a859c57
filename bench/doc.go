// Package bench compares pathlock with other locks, and with code that has none. It has benchmarks
// alone, and is a module of its own, so that nobody else requires the other locks. The README says
// how to run them and which goals they are judged by.
package bench
