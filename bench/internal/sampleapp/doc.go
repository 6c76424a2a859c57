// Package sampleapp builds the sample app and runs instances of it, a process each.
package sampleapp
