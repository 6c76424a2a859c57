// Package label names operations and outcomes in metrics, by few words that no client can make up.
// The modules promobserver and otelobserver share it.
package label
