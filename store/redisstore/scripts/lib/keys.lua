-- What every script begins with: the keys of one tree, and how their contents are written.
--
-- KEYS of every script; all of them carry the tree's hash tag:
--   1 locks      hash   fields:
--                   n<8 bytes>   a node: how many owners hold it, in which mode, and in which
--                                modes requests wait for it (see ONE below)
--                   gate-node    the same for the gate, which counts as a node above the root: an
--                                owner that holds anything in the tree has IX on it, one that
--                                holds the gate has X
--                   o<owner>     an owner's grants (see record.lua)
--                   w<ticket>    a queued request (see record.lua)
--                   r<owner>     the tickets of an owner's queued requests, 16 digits each
--                   k            the last ticket given out, as long as there is a queue
--                   l            '1' while a request waits for the gate, which fast paths do not see; '!'
--                                while a script changes the table: a script that finds '!'
--                                removes the table (see open.lua)
--   2 deadlines  zset   scores are times in ms:
--                   o<owner>     when the owner's lease ends
--                   w<ticket>    when the request's place in the queue ends
--                   g<length of owner>:<owner><grant id>
--                                when the lease of a grant that is apart ends, that is, of one
--                                with its own lease; it ends with the owner's at the latest; all
--                                else about it is in the owner's record
--   3 queue      zset   all scores are 0, so ZRANGEBYLEX returns members with a common beginning in
--                       order of arrival:
--                   <node><mode><ticket>          for each claim of each queued request
--                   c<node><mode><ticket><owner>  the same again for a conversion: the owner holds
--                                                 something already
--   4 fence      string the last fence given out
--   5 gate       string a redislock key: token and note of the gate's holder
--   6 withdrawn  string for acquire and withdraw: there while a request is to be granted nothing,
--                       should it come, because it was withdrawn before
--
-- Modes are numbers in the order of their strength: 1 IS, 2 IX, 3 S, 4 SIX, 5 X; 0 is none. A claim
-- is ten bytes: the node's name and the mode's digit. A claim set is claims one after the other.
-- The claim on the gate node comes first, and no node appears twice.
--
-- A script consists of these parts, in this order; scripts.go assembles those that it uses:
--   lib/keys.lua, lib/clock.lua, lib/modes.lua
--   fastpath/<script>.lua  for acquire and release, behind lib/fence.lua or lib/record.lua: the
--                          common case, which either ends the script or leaves the rest to decide;
--                          creating the library's functions alone takes longer than a grant
--   the library            record, fence, state, open, nodes, holdings, gate, queue, waits, grant,
--                          deadlock, reclaim, handover
--   <script>.lua           the only part of the rest that runs anything

local LOCKS, DEADLINES, QUEUE, FENCE, GATE, WITHDRAWN = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

local call = redis.call
local sub, byte = string.sub, string.byte
local IS, IX, S, SIX, X = 1, 2, 3, 4, 5
local GATE_NODE = 'gate-node'
local NAME_BYTES = 9
local CLAIM_BYTES = NAME_BYTES + 1

-- A node's field is one number: mode + ONE * count + ONE_SHARED * shared + ONE_WAITING * waiting.
-- There, count owners have the node in mode, shared owners have it in IS, and waiting is the set of
-- modes in which requests wait for it. That is enough: IX and S of different owners never meet, and
-- only one owner has SIX or X. There is room for four million owners of each. The gate node does
-- not note who waits: its field exists only while anybody holds anything, and other programs rely
-- on that.
local ONE, ONE_SHARED, ONE_WAITING = 8, 33554432, 140737488355328

-- The values of field l.
local AT_WORK, FAST_PATH_OFF = '!', '1'
local AT_WORK_TTL = '60000' -- ms

local FENCE_TTL = '604800000' -- a week, ms

-- Fast paths take at most this many claims, so that unpack can return them all at once.
local MOST_CLAIMS = 500

-- int formats a whole number. tostring would lose digits from 1e14 on.
local function int(n) return string.format('%d', n) end
