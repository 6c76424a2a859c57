package lockspec_test

// The prose of docs/operations.md.

const introduction = `Two operations on one tree wait for each other if running them at once could break the tree or lose
an update. This page takes the operations of a cloud drive, or of a test plan. For each it says what
it locks, who waits for whom, and where somebody waits without need. The package ` + "`lockspec`" + ` computes
the tables itself.

A folder is a suite and a file is a case: a leaf is a node like any other.`

const whatIsLocked = `**Bold** marks the claims of the operation itself; the rest are the intentions on the nodes above.

- ` + "`X`" + ` is exclusive for the node and everything below it.
- ` + "`S`" + ` is shared: nobody may change the node or anything below it.
- ` + "`IX`" + ` and ` + "`IS`" + ` say that something below is changed or read. They keep out only those who want the
  whole node.

A path need not exist: ` + "`X /a/n`" + ` reserves the name.

Two rules decide what a new name locks. One plan may mix both:

- **name-slot**: if the spec says what the new name is, the operation locks that name;
- **parent-exclusive**: if the spec leaves the name out, or says ` + "`ParentExclusive()`" + `, the operation
  locks the whole folder that the name is in.`

const severalTrees = `### Several trees

In one tree, an operation gets everything that it needs, or nothing. An operation that needs several
trees locks them one after the other:

1. The middleware waits for one of them while it holds none, then takes the others if they are free.
2. If one is not free, it releases everything and waits for that one.
3. If that has failed several times, or half of its time is over, it holds the first tree while it
   waits for the next.

In the third step, as everywhere else, everybody takes the trees in the same order: by namespace,
and within a namespace by id. Namespaces whose gates a spec takes come first, in the order in which
the spec lists them. So list them in the same order everywhere: names before plans.

A move or a copy from one plan to another claims the node in the one plan, and the new name in the
other. Two that cross lock the two plans in the same order, and cannot deadlock.

**Nobody detects a deadlock across trees.** A lock store looks for cycles within one tree. Suppose
that one owner holds something in tree A and waits in tree B, while another holds something in B and
waits in A. Both wait until one wait ends with a conflict. If your own code locks several trees, by
` + "`Locker.Acquire`" + ` or by the writes of one transaction, follow the order above: the namespaces of
gates first, then by namespace and id.

### Moves into the own subtree

A move into the node's own subtree is refused before any lock is taken. So is a rename, a move or a
delete of the root. A copy into the node's own subtree is allowed: it copies what was there before.`

const oneSlot = `A place is a path, whatever kind of row is there. So a file and a folder with the same name in the
same folder share one slot, and so do a case and a suite. Creating, renaming, moving or deleting one
of them waits for:

- the same operations on the other one;
- any operation inside the folder.

Nobody is refused for that; both rows can exist if the tables allow it. To avoid the wait, the names
must differ in the column itself, for example by a suffix for one kind (` + "`login.case`" + `). Spec,
resolver and plugin all go by the column. A ` + "`Map`" + ` in the spec alone does not separate the two,
because the plugin locks the name that it writes.`

const theTop = `A tree without a root row has its rows at the top: ` + "`/n`" + `. There is no id of a parent then.
` + "`" + `JSON("parent_id").OrTop(plan)` + "` means the top of the plan if `" + `parent_id` + "`" + ` is missing, null or empty,
or is 0 or the zero UUID and no node has that id. Here ` + "`plan`" + ` is
` + "`" + `Param("plan").Kind("plan")` + "`" + `, with [a resolver for ids of plans](middleware.md#trees-without-a-root-row). For a move or a copy,
` + "`OrTop()`" + ` without a plan means the top of the node's own tree.

With ` + "`Optional()`" + ` as well, null and the others mean the top, and a missing value means what it
always does: no move. In a tree with a root row, the same spec means the place below the root row.`

const legend = `- **·** they run side by side
- **p** they wait for each other under the parent-exclusive rule, and run side by side under the
  name-slot rule
- **W** they wait for each other under both rules

The purge of the recycle bin locks nothing and waits for nobody. Operations in different plans never
wait for each other.`

const method = `A test runs every operation beside every other one, on every node of a small tree and to every
place. New names are free, taken or contested. The test runs them against a model: a table of rows,
and handlers without any protection that read in their first step and write in their second. It
interleaves the steps in every order.

A pair is bad if any interleaving leaves a wrong path, an orphan, a cycle or two siblings with one
name. It is also bad if any interleaving has an outcome, answers included, that neither order of the
two would have had. The model knows nothing of locks; the test compares the claims with what it
finds. Random trees check that no bad pair is missed.`

const snapshots = `One anomaly has to be asked for, and is not counted above. Two copies with ` + "`SnapshotSource()`" + `, each
into the other's source, may each miss what the other creates (%d pairs). So may three or more in a
ring, each into the next one's source, though any two of them are as if one came after the other.
The tree stays whole.`

const assumptions = `## What this rests on

- An **edit** is one statement that does not rest on an earlier read (` + "`SET version = version + 1`" + `),
  or one that checks the row's version. Two edits of one node run at once. A handler that reads,
  computes and writes back without checking a version loses updates; it has to say ` + "`Slot(node)`" + `,
  which is exclusive.
- A handler that changes a row **checks the number of rows changed**, and answers "not found" if it
  is zero.
- The **purge** is one statement that contains its condition (delete what is in the recycle bin). So
  is the step of a restore that takes the item out of the bin. Neither rests on a list that was read
  before.
- A **copy** without ` + "`SnapshotSource()`" + `, and an **export**, may read their subtree in any number of
  statements.
- Counts from a small tree are no forecast: your users decide how often each case occurs. The counts
  are here to make a change of the rules visible.`
