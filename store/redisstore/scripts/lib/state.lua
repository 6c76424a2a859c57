-- What the files of the library share, and change, while a script runs. Nothing else is shared but
-- functions.
--
-- A script reads each thing once and changes it here; finish() (handover.lua) writes what has to be
-- written at the end. Files are named that write a field; all may read it.

-- A script does no more than a portion of what there is to hand over and to reclaim, so that the
-- server is kept from its other work for less than a millisecond: it begins nothing for which too
-- little is left of so many looks at nodes, unless it has done nothing yet.
local WORK = 200

local state = {
  -- What is in the table, as far as it has been read.
  nodes = {},     -- name -> { mode, count, shared, waiting, dirty }; nodes.lua, and queue.lua for waiting
  holdings = {},  -- owner -> { grants, modes }, or false for none; holdings.lua, grant.lua, transfer
  requests = {},  -- ticket -> request, or false for none; queue.lua
  tickets = {},   -- owner -> tickets of its requests that wait; queue.lua
  gate = nil,     -- the gate key's value, false for none; nil: not read; gate.lua
  queued = false, -- whether QUEUE is there: if not, nobody waits; open.lua, queue.lua
  awaited = false, -- whether field x is there: somebody waits because the gate key is another's; open.lua, handover.lua
  version = nil,  -- what field s has: marks the table for those who search it in portions; open.lua, waits.lua, queue.lua
  pending = false, -- what field p has: lists that an earlier script has left over; open.lua, handover.lua

  -- What has been found out from it, and is true until somebody is granted or gives up something.
  lists = {},    -- list of the queue -> its tickets; queue.lua
  passing = {},  -- request -> who waits for its owner; waits.lua

  -- What the script has done.
  changed = false, -- the table is being changed: it has been marked (see touch in nodes.lua)
  moved = false,   -- somebody was granted, has given up or has queued something: who may pass whom has to be looked at again;
                   -- queue.lua, grant.lua; handover.lua takes it back
  weaker = {},     -- node -> what it was before it became weaker; nodes.lua; handover.lua makes lists to look through of it

  -- What is left to do.
  through = {},      -- list of the queue -> the ticket behind which to look for somebody to let in; grant.lua, handover.lua
  all = false,       -- everybody who waits has to be looked at; open.lua, waits.lua; handover.lua takes it back
  portion = WORK,    -- a constant
  work = WORK,       -- how many looks at nodes are left in this portion; grant.lua, handover.lua
  stopped = false,   -- the portion is done, and somebody has yet to be looked at; handover.lua
  unswept = false,   -- leases have ended that have not been reclaimed; grant.lua
}
