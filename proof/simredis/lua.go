package simredis

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// newLua returns an interpreter with what Redis gives to scripts: redis, bit, cmsgpack and struct.
func (s *Server) newLua() *lua.LState {
	l := lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 64 << 10, CallStackSize: 256})
	for name, open := range map[string]lua.LGFunction{"": lua.OpenBase, "table": lua.OpenTable, "string": lua.OpenString, "math": lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	library := func(name string, functions map[string]lua.LGFunction) {
		l.SetGlobal(name, l.SetFuncs(l.NewTable(), functions))
	}
	library("redis", map[string]lua.LGFunction{
		"call":  func(l *lua.LState) int { return s.fromScript(l, true) },
		"pcall": func(l *lua.LState) int { return s.fromScript(l, false) },
		"sha1hex": func(l *lua.LState) int {
			l.Push(lua.LString(sha1Hex(l.CheckString(1))))
			return 1
		},
	})
	library("bit", map[string]lua.LGFunction{
		"band": bitwise(func(a, b uint32) uint32 { return a & b }),
		"bor":  bitwise(func(a, b uint32) uint32 { return a | b }),
	})
	library("cmsgpack", map[string]lua.LGFunction{"pack": pack, "unpack": unpack})
	library("struct", map[string]lua.LGFunction{"unpack": unpackClaims})
	return l
}

func sha1Hex(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func bitwise(two func(a, b uint32) uint32) lua.LGFunction {
	return func(l *lua.LState) int {
		n := uint32(l.CheckInt64(1))
		for i := 2; i <= l.GetTop(); i++ {
			n = two(n, uint32(l.CheckInt64(i)))
		}
		l.Push(lua.LNumber(int32(n)))
		return 1
	}
}

// fromScript is redis.call, or redis.pcall if failures are not raised.
func (s *Server) fromScript(l *lua.LState, raise bool) int {
	args := make([]string, l.GetTop())
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = strconv.FormatFloat(float64(v), 'g', 17, 64)
		default:
			l.RaiseError("Lua redis lib command arguments must be strings or integers")
		}
	}
	reply, failed := s.try(args)
	if failed == "" {
		l.Push(toLua(l, reply))
		return 1
	}
	t := l.NewTable()
	t.RawSetString("err", lua.LString(failed))
	if raise {
		l.Error(t, 1)
	}
	l.Push(t)
	return 1
}

// try carries out a command, and returns its failure, if any.
func (s *Server) try(args []string) (reply any, failed failure) {
	defer func() { failed = failureOf(recover()) }()
	return s.do(args), ""
}

// failureOf returns the failure that a command has panicked with, if any.
func failureOf(panicked any) failure {
	switch p := panicked.(type) {
	case nil:
		return ""
	case failure:
		return p
	default:
		panic(p)
	}
}

func toLua(l *lua.LState, reply any) lua.LValue {
	switch v := reply.(type) {
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case status:
		t := l.NewTable()
		t.RawSetString("ok", lua.LString(v))
		return t
	case []any:
		t := l.CreateTable(len(v), 0)
		for i, item := range v {
			t.RawSetInt(i+1, toLua(l, item))
		}
		return t
	default:
		return lua.LFalse
	}
}

func fromLua(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return int64(v)
	case lua.LBool:
		if v {
			return int64(1)
		}
		return nil
	case *lua.LTable:
		if text, ok := v.RawGetString("err").(lua.LString); ok {
			return failure(text)
		}
		if text, ok := v.RawGetString("ok").(lua.LString); ok {
			return status(text)
		}
		all := []any{}
		for i := 1; ; i++ {
			item := v.RawGetInt(i)
			if item == lua.LNil {
				return all
			}
			all = append(all, fromLua(item))
		}
	default:
		return nil
	}
}

// script returns what Redis knows by the SHA-1 of a script's text.
func (s *Server) script(text string) *lua.FunctionProto {
	sha := sha1Hex(text)
	if s.scripts[sha] == nil {
		s.scripts[sha] = compile(text)
	}
	return s.scripts[sha]
}

// programs has what compile has returned, by the scripts' texts: all servers of a process share it.
var programs sync.Map

func compile(text string) *lua.FunctionProto {
	if known, ok := programs.Load(text); ok {
		return known.(*lua.FunctionProto)
	}
	chunk, err := parse.Parse(strings.NewReader(text), "user_script")
	if err != nil {
		panic(failure("ERR Error compiling script: " + err.Error()))
	}
	proto, err := lua.Compile(chunk, "user_script")
	if err != nil {
		panic(failure("ERR Error compiling script: " + err.Error()))
	}
	programs.Store(text, proto)
	return proto
}

// eval runs a script. Writes before a failure remain.
func (s *Server) eval(proto *lua.FunctionProto, args []string) any {
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 0 || n > len(args)-1 {
		panic(failure("ERR Number of keys can't be greater than number of args"))
	}
	table := func(texts []string) *lua.LTable {
		t := s.lua.CreateTable(len(texts), 0)
		for i, text := range texts {
			t.RawSetInt(i+1, lua.LString(text))
		}
		return t
	}
	s.lua.SetGlobal("KEYS", table(args[1:1+n]))
	s.lua.SetGlobal("ARGV", table(args[1+n:]))
	if err := s.lua.CallByParam(lua.P{Fn: s.lua.NewFunctionFromProto(proto), NRet: 1, Protect: true}); err != nil {
		if failed, ok := err.(*lua.ApiError); ok { //nolint:errorlint // gopher-lua returns it as it is
			if text, ok := fromLua(failed.Object).(failure); ok {
				panic(text)
			}
		}
		panic(failure("ERR " + err.Error()))
	}
	reply := fromLua(s.lua.Get(-1))
	s.lua.Pop(1)
	if failed, ok := reply.(failure); ok {
		panic(failed)
	}
	return reply
}

// pack and unpack stand for cmsgpack's, which only scripts read. A value is a letter, a length, and
// a text or that many pairs.
func pack(l *lua.LState) int {
	var b strings.Builder
	for i := 1; i <= l.GetTop(); i++ {
		packInto(&b, l.Get(i))
	}
	l.Push(lua.LString(b.String()))
	return 1
}

func packInto(b *strings.Builder, v lua.LValue) {
	switch v := v.(type) {
	case lua.LString:
		b.WriteString("s" + strconv.Itoa(len(v)) + ":" + string(v))
	case lua.LNumber:
		text := strconv.FormatFloat(float64(v), 'g', -1, 64)
		b.WriteString("n" + strconv.Itoa(len(text)) + ":" + text)
	case *lua.LTable:
		pairs := 0
		v.ForEach(func(_, _ lua.LValue) { pairs++ })
		b.WriteString("t" + strconv.Itoa(pairs) + ":")
		v.ForEach(func(key, value lua.LValue) {
			packInto(b, key)
			packInto(b, value)
		})
	default:
		panic(failure("ERR cannot pack a " + v.Type().String()))
	}
}

func unpack(l *lua.LState) int {
	n := 0
	for rest := l.CheckString(1); rest != ""; n++ {
		var v lua.LValue
		v, rest = unpackFrom(l, rest)
		l.Push(v)
	}
	return n
}

func unpackFrom(l *lua.LState, text string) (lua.LValue, string) {
	colon := strings.IndexByte(text, ':')
	n, err := strconv.Atoi(text[1:max(colon, 1)])
	if err != nil {
		panic(failure("ERR this is not packed"))
	}
	kind, rest := text[0], text[colon+1:]
	switch kind {
	case 's':
		return lua.LString(rest[:n]), rest[n:]
	case 'n':
		f, _ := strconv.ParseFloat(rest[:n], 64)
		return lua.LNumber(f), rest[n:]
	}
	t := l.NewTable()
	for range n {
		var key, value lua.LValue
		key, rest = unpackFrom(l, rest)
		value, rest = unpackFrom(l, rest)
		t.RawSet(key, value)
	}
	return t, rest
}

// unpackClaims is struct.unpack in the only format that the scripts use: texts of nine bytes, each
// with a digit behind it.
func unpackClaims(l *lua.LState) int {
	format, claims := l.CheckString(1), l.CheckString(2)
	if format != strings.Repeat("c9B", len(claims)/10) {
		panic(failure("ERR the format " + format + " is not known"))
	}
	for c := range slices.Chunk([]byte(claims), 10) {
		l.Push(lua.LString(c[:9]))
		l.Push(lua.LNumber(c[9]))
	}
	l.Push(lua.LNumber(len(claims) + 1))
	return l.GetTop() - 2
}
