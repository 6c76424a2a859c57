-- The state that the files of the library share and change while a script runs. They share nothing
-- else but functions.
--
-- A script reads each thing once and changes it here. At the end, finish() (handover.lua) writes
-- what has to be written. Each field names the files that write it; all files may read it.

-- A script hands over and reclaims no more than a portion, so that it keeps the server from other
-- work for less than a millisecond. A portion is so many looks at nodes. The script begins nothing
-- that needs more looks than are left, unless it has done nothing yet.
local WORK = 200

local state = {
  -- What the table has, as far as the script has read it.
  nodes = {},      -- name -> { mode, count, shared, waiting, dirty }; nodes, queue, repair
  holdings = {},   -- owner -> { grants, modes }, or false for none;
                   -- holdings, grant, queue, repair, transfer, blocker
  requests = {},   -- ticket -> request, or false for none; queue, acquire
  tickets = {},    -- owner -> tickets of its queued requests; queue
  gate = nil,      -- value of the gate key, false for none, nil if not read yet; gate, force
  queued = false,  -- whether QUEUE exists: if not, nobody waits; open, queue, repair, blocker
  awaited = false, -- field x: a request waits for somebody else's gate key; open, handover
  version = nil,   -- field s: marks the table for searches in portions; open, waits, queue
  pending = false, -- field p: lists that an earlier script has left over; open, handover

  -- What follows from that, until anybody is granted something, gives something up or begins to
  -- wait.
  lists = {},      -- list of the queue -> its tickets; queue, handover
  passing = {},    -- owner and limit -> the requests that wait for the owner; waits, queue

  -- What the script has done.
  changed = false, -- it is changing the table, and has marked it (see touch in nodes.lua);
                   -- nodes, handover
  moved = false,   -- anybody was granted something, gave something up or began to wait: who may
                   -- pass whom has to be checked again; queue, handover takes it back
  weaker = {},     -- name -> what the node was before it became weaker;
                   -- nodes, handover turns it into lists to look through

  -- What is left to do.
  through = {},    -- list of the queue -> the ticket behind which to look for waiters to grant;
                   -- grant, handover
  all = false,     -- every waiter has to be tried; open, waits, handover takes it back
  portion = WORK,  -- a constant
  work = WORK,     -- how many looks at nodes are left in this portion; grant, handover
  stopped = false, -- the portion is done, and some waiter has yet to be tried; handover
  unswept = false, -- some leases have ended and are not reclaimed yet; grant
}
