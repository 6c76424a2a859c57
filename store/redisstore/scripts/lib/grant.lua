-- Granting, and taking away: by release, by force, or because a lease has ended.

-- time_gate makes the gate key of an owner that holds the gate expire with its last grant of the
-- gate.
local function time_gate(owner)
  local held = gate_is_of(owner) and holding(owner)
  if not held or held.modes[GATE_NODE] ~= X then return end
  local till = tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0)
  local last = 0
  for _, g in ipairs(held.grants) do
    local _, modes = split(g.claims)
    if modes[1] == X then last = math.max(last, apart_ends(owner, g.id) or till) end
  end
  call('PEXPIREAT', GATE, int(math.min(last, till)))
end

-- prolong extends the lease that a grant lives by to a moment (ms), unless it lasts longer already:
-- the grant's own if it is apart, and otherwise the owner's. id is nil for the owner's.
local function prolong(owner, id, till)
  local member = id and apart_ends(owner, id) and apart_member(owner, id) or 'o' .. owner
  if till > tonumber(call('ZSCORE', DEADLINES, member) or 0) then
    touch()
    call('ZADD', DEADLINES, int(till), member)
    time_gate(owner)
  end
end

-- grant records that r is granted, and returns the fence. If r has waited, the lease runs from its
-- waiter's last sign of life. An owner that holds nothing else has no lease that this grant could
-- be apart from.
local function grant(r)
  touch()
  local held = holding(r.owner)
  local till = (r.seen or NOW) + r.lease
  local is_apart = r.apart == '1' and held
  held = held or { grants = {}, modes = {} }
  -- A deadline without its grant does no harm, should this script fail here.
  if is_apart then call('ZADD', DEADLINES, int(till), apart_member(r.owner, r.id)) end
  local fence = next_fence()
  load_nodes(r.names)
  for i = 1, #r.names do
    local name = r.names[i]
    local own = held.modes[name] or 0
    local want = supremum(own, r.modes[i])
    if want ~= own then
      recount(name, own, want)
      held.modes[name] = want
    end
  end
  held.grants[#held.grants + 1] =
    { id = r.id, fence = fence, since = int(NOW), claims = r.claims, paths = r.paths, note = r.note }
  write_holding(r.owner, held)
  if r.gate then take_gate(r.owner, r.note, till) end
  if not is_apart then prolong(r.owner, nil, till) end
  if r.gate then time_gate(r.owner) end
  moved()
  return fence
end

-- leave takes a request that will not be granted out of the queue. It frees those that the request
-- kept back: everybody, if it asked for the gate.
local function leave(r)
  dequeue(r)
  for i = 1, #r.names do free(r.names[i], CONFLICTS[r.modes[i]]) end
  local held = holding(r.owner)
  if r.gate and not (held and held.modes[GATE_NODE] == X) and drop_gate(r.owner) then reclassify(r.owner) end
end

-- settle updates an owner's queued requests after the owner has got its first hold, has got more,
-- or has lost its last. While the owner holds something, its requests are conversions: they may
-- pass waiters. They may also close a cycle, which ends them.
local function settle(owner)
  for _, ticket in ipairs(tickets_of(owner)) do
    local r = request(ticket)
    if r and holding(owner) then
      local claim, blocker = cycle(r)
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
    call('ZREM', DEADLINES, 'o' .. owner)
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
  if #rest.grants == 0 then settle(owner) end
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
