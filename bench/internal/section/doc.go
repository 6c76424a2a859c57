// Package section has the questions that the benchmark asks, one to a file, each with the targets
// that it is judged by. A new question is one more entry in [All].
package section
