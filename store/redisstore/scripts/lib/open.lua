-- Opening the table: what every script that goes the long way does first.

-- open makes a thin lock one like all others, and sees to what somebody has deleted, or has left
-- unfinished.
local function open()
  if inflate() then return end
  -- One question for three keys: each is counted as often as it is named.
  local there = call('EXISTS', LOCKS, DEADLINES, DEADLINES, QUEUE, QUEUE, QUEUE, QUEUE)
  local has_locks, has_deadlines = there % 2 == 1, there % 4 >= 2
  state.queued = there >= 4
  if not (has_locks and has_deadlines) then
    -- One without the other is worth nothing: nobody can say who holds, or until when.
    if there > 0 then call('DEL', LOCKS, DEADLINES, QUEUE) end
    state.queued = false
    return
  end
  local fields = call('HMGET', LOCKS, 'l', 'p', 'x', 'k', 's')
  if fields[1] == AT_WORK or fields[4] and not state.queued then
    repair() -- a script has failed, or the queue is gone
    state.all = true
    return
  end
  state.pending, state.awaited, state.version = fields[2], fields[3] and true, fields[5]
end
