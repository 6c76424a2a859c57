// Package anystore opens the lock store that a URL names.
package anystore
