package lockspec_test

// The prose of docs/operations.md.

const introduction = `Two operations on one tree wait for each other if running them at once could break the tree or lose
an update. This page says for the operations of a cloud drive, or of a test plan, what each locks,
who waits for whom, and where somebody waits without need. The tables are computed by the package
` + "`lockspec`" + ` itself.

A folder is a suite and a file is a case: a leaf is a node like any other.`

const whatIsLocked = `**Bold** is what the operation claims; the rest are the intentions on the nodes above. ` + "`X`" + ` is
exclusive for the node and everything below, ` + "`S`" + ` is shared: nobody may change the node or anything
below. ` + "`IX` and `IS`" + ` say that something below is changed or read, and keep out only those who want
the whole. A path need not exist: ` + "`X /a/n`" + ` reserves the name.

By the **name-slot** rule, which is used where the spec says what the new name is, an operation
locks that name. By the **parent-exclusive** rule, which a spec gets by ` + "`ParentExclusive()`" + ` or by
leaving the name out, it locks the whole folder that the name is in. Both may be used in one plan at
once.`

const severalTrees = `In one tree an operation gets all that it needs, or nothing. One that needs several trees locks one
after the other. The middleware waits for one of them while it holds none, takes the others if they
are free, and otherwise lets go and waits for the one that was not. Only when that has failed
several times, or half of its time is over, does it hold the first tree while it waits for the next.
Then, as everywhere else, the trees are taken in one order for everybody: by
namespace, and within a namespace by id. Namespaces whose gates a spec takes come first, in the
order in which the spec lists them; so list them in one order everywhere, names before plans. A move
or a copy from one plan to another claims the node in the one plan and the new name in the other;
two that cross lock the two plans in the same order, and cannot deadlock.

**Nobody finds a deadlock across trees.** A lock store looks for cycles within one tree. If one
owner holds something in tree A and waits in tree B, while another holds something in B and waits in
A, both wait until one wait ends with a conflict. If your own code takes locks in several trees, by
` + "`Locker.Acquire`" + ` or by the writes of one transaction, take them in the order above: the namespaces
of gates first, then by namespace and id.

A move into the node's own subtree is refused before any lock is taken; so is a rename, a move or a
delete of the root. A copy into the own subtree is allowed: the copy is of what was there before.`

const oneSlot = `A place is a path, whatever kind of row is there. So a file and a folder of one name below one folder,
or a case and a suite, have one slot: whoever creates, renames, moves or deletes the one waits for
whoever does so to the other, or works inside the folder. Neither is refused for that; both rows can
be there if the tables allow it. Where the wait is in the way, the names have to differ in the column
itself, by an ending for the one kind (` + "`login.case`" + `): spec, resolver and plugin go by it alike. A
` + "`Map`" + ` in the spec alone does not keep them apart, because the plugin locks the name that it writes.`

const theTop = `A tree without a root row has its rows at the top: ` + "`/n`" + `. There is no id of a parent to look for then.
` + "`JSON(\"parent_id\").OrTop(plan)`" + ` says that the place is the top of the plan where a request has no
` + "`parent_id`" + `, or null; a move or a copy whose source says ` + "`OrTop()`" + ` stays in the tree of its node. With
` + "`Optional()`" + ` as well, null is the top and a missing value is what it always is: no move. In a tree with a
root row the same spec means the place below the root row.`

const legend = `- **·** they run side by side
- **p** they wait for each other by the parent-exclusive rule, and run side by side by the name-slot
  rule
- **W** they wait for each other by both rules

The purge of the recycle bin locks nothing and waits for nobody. Operations in different plans never
wait for each other.`

const method = `Every operation, on every node of a small tree, to every place and with free, taken and contested
names, is run beside every other one against a model of a table of rows: as a handler without any
protection that reads in its first step and writes in its second, with the steps interleaved in
every order. A pair is bad if any interleaving leaves a wrong path, an orphan, a circle or two
siblings of one name, or an outcome, answers included, that neither order of the two would have had.
The model knows nothing of locks; the claims are compared with what it finds. That no bad pair is
missed is checked on random trees as well.`

const snapshots = `One anomaly has to be asked for and is not counted above: two copies with ` + "`SnapshotSource()`" + `, each
into the other's source, may each miss what the other creates (%d pairs). The tree stays whole.`

const assumptions = `## What this rests on

- An **edit** is one statement that does not rest on what was read before
  (` + "`SET version = version + 1`" + `), or one that checks the row's version. Two edits of one node run at
  once. A handler that reads, thinks and writes back without looking at a version loses updates so,
  and has to say ` + "`Slot(node)`" + `, which is exclusive.
- A handler that changes a row **looks at the number of rows changed**, and answers "not found" if
  there was none.
- The **purge** is one statement that has its condition in it (delete what is in the recycle bin),
  and so is the step of a restore that takes the item out of the bin. Neither rests on a list that
  was read before.
- A **copy** without ` + "`SnapshotSource()`" + `, and an **export**, may read their subtree in as many
  statements as they like.
- Counts of a small tree are no forecast: how often each case occurs is for the users to say. They
  are here so that a change of the rules shows.`
