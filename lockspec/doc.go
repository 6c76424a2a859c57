// Package lockspec says what an operation on a tree locks. It consists of pure data and functions,
// and needs no web framework, database or lock store.
//
// A [Spec] describes a route's operation before any path is known. It says where in a request the
// ids and names are. [Spec.Read] reads them, and [Values.Bind] returns what the request must lock,
// by one of two rules:
//
//	rename /a/b to n     parent-exclusive: X /a/b, X /a
//	                     name-slot:        X /a/b, X /a/n
//
// The more a spec says, the less it locks. If it says where the new name is, it locks that name
// below the parent instead of the parent. Read takes a function that gets a value from the request.
// Bind takes one that finds the paths of ids:
//
//	lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))
//	lockspec.Move(lockspec.Param("id"), lockspec.JSON("parent_id"))
//	lockspec.All(lockspec.Names("project", lockspec.Param("project")), lockspec.Gate(lockspec.Param("plan").Kind("plan")))
//
// A [Source] says where one value is. [Source.OrTop] puts a node at the top of a tree where the
// request names no parent. [Source.Map] changes a value as the handler does, so that both mean the
// same:
//
//	plan := lockspec.Param("plan").Kind("plan") // without a kind, it would be the id of a node
//	lockspec.Insert(lockspec.JSON("parent_id").OrTop(plan), lockspec.JSON("name").Map(strings.TrimSpace))
//
// A [Table] has the specs of many routes, and checks that no route is forgotten.
package lockspec
