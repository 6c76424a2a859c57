-- What every script begins with: the keys of one tree, and how their contents are written.
--
-- KEYS of every script; all of them carry the tree's hash tag:
--   1 locks      hash   fields:
--                   n<8 bytes>   a node: how many owners hold it, in which mode, and in which
--                                modes requests wait for it (see ONE below)
--                   gate-node    the same for the gate, which counts as a node above the root: an
--                                owner that holds anything in the tree has IX on it, one that
--                                holds the gate has X
--                   o<owner>     an owner's grants (see GRANT in record.lua)
--                   w<ticket>    a queued request (see REQUEST in record.lua)
--                   r<owner>     the tickets of an owner's queued requests, 16 digits each
--                   k            the last ticket given out, as long as there is a queue
--                   p            lists of the queue that a hand-over has yet to look through
--                                (see handover.lua)
--                   s            a number, set while a search of the queue runs in portions; it
--                                goes as soon as anybody is granted something, gives something
--                                up or queues a request (see cycle in waits.lua)
--                   x            set while a request waits for somebody else's gate key
--                   l            '1' while there is work that only the long way sees; '!' while
--                                a script changes the table: a script that finds '!' repairs the
--                                table (see repair.lua)
--   2 deadlines  zset   scores are times in ms:
--                   o<owner>     when the owner's lease ends
--                   w<ticket>    when the request's place in the queue ends
--                   t<hash>      until when a withdrawn request is remembered (see withdrawn in
--                                queue.lua)
--                   g<length of owner>:<owner><grant id>
--                                when the lease of a grant ends that is apart, that is, has one
--                                of its own; it ends with the owner's lease at the latest; all
--                                else about it is in the owner's record
--   3 queue      zset   all scores are 0, so ZRANGEBYLEX returns members with a common beginning in
--                       order of arrival:
--                   <node><mode><ticket>          for each claim of each queued request
--                   c<node><mode><ticket><owner>  the same again for a conversion: the owner holds
--                                                 something already
--                   b<ticket>                     a conversion that only waiters block
--                   t<hash>                       a withdrawn request
--   4 fence      string the last fence given out
--   5 gate       string a redislock key: token and note of the gate's holder
--   6 thin       string the only grant in the tree (see THIN_HEAD); then locks, deadlines and queue
--                       do not exist
--
-- Modes are numbers in the order of their strength: 1 IS, 2 IX, 3 S, 4 SIX, 5 X; 0 is none. A claim
-- is ten bytes: the node's name and the mode's digit. A claim set is claims one after the other.
-- The claim on the gate node comes first, and no node appears twice.
--
-- The usual case by far is one owner with one grant and nobody else in the tree. One string has
-- that grant, as a thin lock (Bacon et al. 1998). Its price does not depend on the number of
-- claims. The next script that goes the long way inflates the lock (see thin.lua). From then on it
-- is in locks and deadlines like all others.
--
-- A script consists of these parts, in this order; scripts.go assembles those that it uses:
--   lib/keys.lua, lib/record.lua; then lib/clock.lua, lib/modes.lua, lib/apart.lua where first used
--   thin/<script>.lua    for acquire and release, the thin way: nobody else is concerned
--   short/successor.lua  for release: one owner holds and one waits
--   short/<script>.lua   for acquire and release, the short way: others hold, and nobody waits for
--                        the same nodes
--   lib/state.lua        what the rest shares
--   the library          nodes, holdings, gate, queue, thin, repair, open, waits, grant, handover
--   <script>.lua         the only part of the rest that runs anything
--
-- All after the thin and the short ways is the long way. Those ways either return or leave
-- everything as it is. If one returns, the long way is not run: creating the library's functions
-- alone takes longer than a grant.

local LOCKS, DEADLINES, QUEUE, FENCE, GATE, THIN = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

local call = redis.call
local sub, byte = string.sub, string.byte
local IS, IX, S, SIX, X = 1, 2, 3, 4, 5
local GATE_NODE = 'gate-node'
local NAME_BYTES = 9
local CLAIM_BYTES = NAME_BYTES + 1

-- A thin lock is the owner, the end of its lease (ms) and a grant.
local THIN_HEAD = '>I4c0I4c0'
local thin -- value of THIN: false if there is none, nil if not read yet

-- A node's field is one number: mode + ONE * count + ONE_SHARED * shared + ONE_WAITING * waiting.
-- There, count owners have the node in mode, shared owners have it in IS, and waiting is the set of
-- modes in which requests wait for it. That is enough: IX and S of different owners never meet, and
-- only one owner has SIX or X. There is room for four million owners of each. The gate node does
-- not note who waits: its field exists only while anybody holds anything, and other programs rely
-- on that.
local ONE, ONE_SHARED, ONE_WAITING = 8, 33554432, 140737488355328

-- The values of field l.
local AT_WORK, LONG_WAY = '!', '1'
local AT_WORK_TTL = '60000' -- ms

local FENCE_TTL = '604800000' -- a week, ms

-- int formats a whole number. tostring would lose digits from 1e14 on.
local function int(n) return string.format('%d', n) end
