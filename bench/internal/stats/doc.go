// Package stats compares contenders by what is robust on a machine that does other things besides:
// they take turns within every round, in an order that rotates; a round is judged by its median, a
// contender by the ratio of its median to the baseline's of the same round, and the whole by the
// median of those ratios. What disturbs a round disturbs both sides of its ratio.
package stats
