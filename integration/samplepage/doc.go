// Package samplepage tests the sample app's page in a browser, as people use it: in two windows at
// once, on one instance of the app and on two. The app runs as a process.
package samplepage
