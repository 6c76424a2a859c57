-- Taking away: by release, by force, or because a lease has ended.

-- leave takes a request that will not be granted out of the queue. It frees those that the request
-- kept back: everybody, if it asked for the gate.
local function leave(r)
  dequeue(r)
  for i = 1, #r.names do free(r.names[i], CONFLICTS[r.modes[i]]) end
  local held = holding(r.owner)
  if r.gate and not (held and held.modes[GATE_NODE] == X) and drop_gate(r.owner) then reclassify(r.owner) end
end

-- recheck_waits updates an owner's queued requests after the owner has gained its first hold, has
-- gained more, or has lost its last. While the owner holds something, its requests are conversions:
-- they may pass waiters. They may also close a cycle, which ends them.
local function recheck_waits(owner)
  for _, ticket in ipairs(tickets_of(owner)) do
    local r = request(ticket)
    if r and holding(owner) then
      local claim, blocker = deadlock(r)
      if claim then
        leave(r)
        r.deadlock = { claim, blocker }
        tell(r, 'deadlock ' .. r.ref .. ' ' .. claim .. ' ' .. blocker)
      else
        converts(r, true)
      end
    elseif r then
      converts(r, gate_is_of(owner))
    end
  end
end

-- give_back takes one grant away from an owner, or all of them if id is nil.
local function give_back(owner, id)
  touch()
  local held = holding(owner)
  if not held then
    call('ZREM', DEADLINES, 'o' .. owner, apart_member(owner, id or ''))
    return
  end
  local rest, ends = { grants = {}, modes = {} }, {}
  for _, g in ipairs(held.grants) do
    if id and g.id ~= id then
      rest.grants[#rest.grants + 1] = g
      local names, modes = split(g.claims)
      for i = 1, #names do rest.modes[names[i]] = supremum(rest.modes[names[i]] or 0, modes[i]) end
    else
      ends[#ends + 1] = apart_member(owner, g.id)
    end
  end
  if #rest.grants > 0 then
    write_holding(owner, rest)
  else
    call('HDEL', LOCKS, 'o' .. owner)
    ends[#ends + 1] = 'o' .. owner
    state.holdings[owner] = false
  end
  in_portions('ZREM', DEADLINES, ends)
  local names = {}
  for name in pairs(held.modes) do names[#names + 1] = name end
  load_nodes(names)
  for name, mode in pairs(held.modes) do
    local left = rest.modes[name] or 0
    if left ~= mode then recount(name, mode, left) end
  end
  if held.modes[GATE_NODE] == X and rest.modes[GATE_NODE] ~= X then drop_gate(owner) end
  if #rest.grants > 0 then time_gate(owner) end
  moved()
  if #rest.grants == 0 then recheck_waits(owner) end
end

-- evict takes everything away from an owner: its grants, and its places in the queue. It tells the
-- waiters.
local function evict(owner)
  for _, ticket in ipairs(tickets_of(owner)) do
    local r = request(ticket)
    if r then
      leave(r)
      tell(r, 'removed ' .. r.ref)
    end
  end
  give_back(owner)
end

-- sweep reclaims what has expired, since nobody else would.
local function sweep()
  local expired = call('ZRANGEBYSCORE', DEADLINES, '-inf', int(NOW))
  if #expired == 0 then return end
  touch()
  for _, member in ipairs(expired) do
    local kind, what = sub(member, 1, 1), sub(member, 2)
    if kind == 'o' then
      -- Its waiters go too. A new grant would make the owner look alive, although it has lost what
      -- it held.
      evict(what)
    elseif kind == 'g' then
      local bytes, at = string.match(member, '^g(%d+):()')
      give_back(sub(member, at, at + bytes - 1), sub(member, at + bytes))
    else
      local r = request(what)
      if r then leave(r) else call('ZREM', DEADLINES, member) end
    end
  end
end
