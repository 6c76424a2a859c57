package fsck

// known is what a repair knows of the database's state: the root rows and the lost+founds, for as
// long as a transaction has them locked, and the numbers that names were given. It is forgotten
// when a transaction is rolled back.
type known struct {
	roots   map[Key]*row
	homes   map[Key]Key
	numbers map[sibling]int
	// homeless says why no lost+found can be made in a tree. That is not forgotten.
	homeless map[Key]error
}

func newKnown() *known {
	k := &known{homeless: make(map[Key]error)}
	k.forget()
	return k
}

// forget drops all that a transaction which was rolled back may have changed.
func (k *known) forget() {
	k.roots, k.homes, k.numbers = make(map[Key]*row), make(map[Key]Key), make(map[sibling]int)
}

// remembered bounds what a repair remembers of the database's state.
const remembered = 10_000

// number remembers which number a name was given last.
func (k *known) number(slot sibling, n int) {
	if len(k.numbers) >= remembered {
		clear(k.numbers)
	}
	k.numbers[slot] = n
}
