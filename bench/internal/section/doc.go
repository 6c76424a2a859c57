// Package section has the questions of the benchmark, one in each file, with the targets that judge
// the answers. A new question is one more entry in [All].
package section
