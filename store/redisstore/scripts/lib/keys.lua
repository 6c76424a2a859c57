-- What every script begins with: the keys of one tree, and the time.
--
-- KEYS of every script; all of them carry the tree's hash tag:
--   1 locks      hash   fields:
--                         n<8 bytes>   node: how many owners hold it, in which mode, and who waits (see ONE below)
--                         gate-node    the same for the gate, which is treated as a node above the root: who
--                                      holds anything in the tree has IX on it, who has the gate has X
--                         o<owner>     the grants of an owner (see GRANT in record.lua)
--                         w<ticket>    a queued request (see REQUEST in record.lua)
--                         r<owner>     the tickets of an owner's queued requests, 16 digits each
--                         k            the last ticket given out, as long as there is a queue
--                         p            queues that a hand-over has yet to look through (see handover.lua)
--                         s            while somebody searches the queue in portions: a number that is gone as soon as anybody
--                                      was granted, has given up or has queued something (see cycle in waits.lua)
--                         x            set while somebody waits because the gate key is another's
--                         l            set while only the long way knows what there is to see to; or the mark of a script at
--                                      work: who finds that repairs the table (see repair.lua)
--   2 deadlines  zset   o<owner> or w<ticket> -> when its lease or its place in the queue ends, ms; t<hash> -> until when
--                       it is remembered that a request was withdrawn (see withdrawn in queue.lua);
--                       g<length of owner>:<owner><grant id> -> when the lease of a grant ends that is apart: it has one of its
--                       own. The owner's end is its end, too; all else about it is in the owner's record
--   3 queue      zset   all scores 0. Members, so that ZRANGEBYLEX gives what begins alike in order of arrival:
--                         <node><mode><ticket>          for each claim of each queued request
--                         c<node><mode><ticket><owner>  the same again, if the owner holds something already
--                         b<ticket>                     such a one that waiters alone keep back
--                         t<hash>                       a request that was withdrawn
--   4 fence      string the last fence given out
--   5 gate       string a redislock key: token and note of the gate's holder
--   6 thin       string the only grant in the tree (see THIN_HEAD); locks, deadlines and queue are not there then
--
-- Modes are numbers in the order of their strength: 1 IS, 2 IX, 3 S, 4 SIX, 5 X; 0 is none. A claim
-- is ten bytes: the node's name and the mode's digit. A claim set is claims one after the other,
-- the one on the gate node first. No node stands in it twice.
--
-- One owner with one grant, and nobody else in the tree, is the usual case by far. It is kept in
-- one string, as a thin lock (Bacon et al. 1998), at a price that does not depend on the number of
-- claims. The next to come by inflates it (see thin.lua): then it is in locks and deadlines like
-- all others.
--
-- What a script consists of, one part after the other; scripts.go puts them together, each with what it uses alone:
--   lib/keys.lua, lib/record.lua, and lib/clock.lua, lib/modes.lua and lib/apart.lua where they are first used
--   thin/<script>.lua    for acquire and release: nobody else is concerned
--   short/<script>.lua   for acquire and release: others hold, and those who wait, wait elsewhere
--   short/successor.lua  for release: one holds and one waits
--   lib/state.lua, which says what the rest shares, then the library: nodes, holdings, thin, gate, queue, repair, open,
--   waits, grant, handover; and <script>.lua, the only part that runs anything
-- The thin and the short way either return or leave everything as it is. The rest is not run then:
-- making the functions of the library alone takes longer than a grant.

local LOCKS, DEADLINES, QUEUE, FENCE, GATE, THIN = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

local call = redis.call
local sub, byte = string.sub, string.byte
local IS, IX, S, SIX, X = 1, 2, 3, 4, 5
local GATE_NODE = 'gate-node'
local NAME_BYTES = 9
local CLAIM_BYTES = NAME_BYTES + 1

-- A thin lock is the owner, when its lease ends (ms), and a grant.
local THIN_HEAD = '>I4c0I4c0'
local thin -- what THIN has: false is nothing, nil that it has not been read

-- A node's field is one number: mode + ONE * count + ONE_SHARED * shared + ONE_WAITING * waiting,
-- where count owners have the node in mode, shared owners have it in IS, and waiting is the set of
-- modes in which it is waited for. That is enough, because between owners IX and S never meet, and
-- SIX and X are had by one. There is room for four million owners of each. Of the gate node it is
-- not noted who waits: its field is there only as long as anybody holds anything, which other
-- programs look at.
local ONE, ONE_SHARED, ONE_WAITING = 8, 33554432, 140737488355328

-- What field l says.
local AT_WORK, LONG_WAY = '!', '1'
local AT_WORK_TTL = '60000' -- ms

local FENCE_TTL = '604800000' -- a week, ms

-- int writes a whole number: tostring would lose digits from 1e14 on.
local function int(n) return string.format('%d', n) end
