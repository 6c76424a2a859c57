// Package readme is the code that README.md and README.zh-CN.md show. A test checks
// that every Go block of theirs stands here, so that what users copy compiles, and runs.
package readme
