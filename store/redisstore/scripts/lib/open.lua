-- Opening the table: every script that changes it begins with this.

-- open deals with keys that somebody has deleted, and work that a script has left unfinished.
local function open()
  -- One EXISTS answers for three keys, because it counts a key as often as it is named.
  local there = call('EXISTS', LOCKS, DEADLINES, DEADLINES, QUEUE, QUEUE, QUEUE, QUEUE)
  local has_locks, has_deadlines = there % 2 == 1, there % 4 >= 2
  state.queued = there >= 4
  if not (has_locks and has_deadlines) then
    -- One without the other is worthless: nobody can say who holds, or until when.
    if there > 0 then call('DEL', LOCKS, DEADLINES, QUEUE) end
    state.queued = false
    return
  end
  local fields = call('HMGET', LOCKS, 'l', 'k', 'x')
  if fields[1] == AT_WORK or (fields[2] ~= false) ~= state.queued then
    -- So is a table that a script has left half-way, or whose queue somebody has deleted.
    call('DEL', LOCKS, DEADLINES, QUEUE)
    state.queued = false
    return
  end
  state.awaited = fields[3] and true
end
