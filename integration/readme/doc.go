// Package readme is the code that README.md and the pages of docs show, in English and Chinese.
// Tests check that every Go block stands here, that every command works, and that both languages
// say the same.
package readme
