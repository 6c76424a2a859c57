// Package quorum keeps locks in a majority of independent stores.
package quorum
