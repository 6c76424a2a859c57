-- Opening the table: every script that changes it begins with this.

-- open deals with keys that somebody has deleted, and work that a script has left unfinished.
local function open()
  -- One EXISTS answers for three keys, because it counts a key as often as it is named.
  local there = call('EXISTS', LOCKS, DEADLINES, DEADLINES, QUEUE, QUEUE, QUEUE, QUEUE)
  state.queued = there >= 4
  local whole = there % 4 == 3 -- LOCKS and DEADLINES: without one, nobody can say who holds, or until when
  if whole then
    local fields = call('HMGET', LOCKS, 'l', 'k')
    -- A script has left the table half-way, or somebody has deleted the queue.
    whole = fields[1] ~= AT_WORK and (fields[2] ~= false) == state.queued
  end
  if not whole then
    if there > 0 then call('DEL', LOCKS, DEADLINES, QUEUE) end
    state.queued = false
  end
end
