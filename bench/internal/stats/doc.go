// Package stats compares contenders in a way that is robust on a machine with other work.
// Contenders take turns within every round, in an order that rotates. The result of a round is its
// median. The ratio of a contender is its median divided by the baseline's median of the same
// round. The result of all rounds is the median of those ratios. A disturbance of a round disturbs
// both sides of its ratio.
package stats
