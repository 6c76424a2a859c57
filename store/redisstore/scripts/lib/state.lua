-- The state that the files of the library share and change while a script runs. They share nothing
-- else but functions.
--
-- A script reads each thing once and changes it here. At the end, finish() (handover.lua) writes
-- what has to be written. Each field names the files that write it; all files may read it.

local state = {
  -- What the table has, as far as the script has read it.
  nodes = {},      -- name -> { mode, count, shared, waiting, dirty }; nodes, queue
  holdings = {},   -- owner -> { grants, modes }, or false for none; holdings, grant, transfer
  requests = {},   -- ticket -> request, or false for none; queue, acquire
  tickets = {},    -- owner -> tickets of its queued requests; queue
  gate = nil,      -- value of the gate key, false for none, nil if not read yet; gate, force
  queued = false,  -- whether QUEUE exists: if not, nobody waits; open, queue

  -- What follows from that, until anybody is granted something, gives something up or begins to
  -- wait.
  lists = {},      -- list of the queue -> its tickets; queue, handover
  passing = {},    -- owner and limit -> the requests that wait for the owner; waits, queue

  -- What the script has done.
  changed = false, -- it is changing the table, and has marked it (see touch in nodes.lua); nodes
  moved = false,   -- anybody was granted something, gave something up or began to wait: who may
                   -- pass whom has to be checked again; queue, handover takes it back
  freed = {},      -- name -> the modes in which requests that wait for the node may be granted now;
                   -- nodes, waits, grant, handover takes it back

  -- What is left to do.
  messages = {},   -- what finish publishes: channels and texts; queue
}
