-- Granting, and taking away: by release, by force, by the end of a lease.

local function room_for(looks) return state.work >= looks or state.work == state.portion end

local MOST_EXPIRED = 16 -- leases that one script reclaims

-- consider has the hand-over look through a queue for somebody to let in (see handover.lua).
local function consider(name, mode) state.through[name .. mode] = '' end

-- consider_all considers everybody who waits: every request has a claim on the gate node.
local function consider_all()
  for mode = IX, X, X - IX do
    consider(GATE_NODE, mode)
    consider('c' .. GATE_NODE, mode)
  end
end

-- prolong has an owner's lease last until a moment, or longer, and the gate key with it.
local function prolong(owner, till)
  local now = tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0)
  till = math.max(now, till)
  if till > now then
    touch()
    call('ZADD', DEADLINES, int(till), 'o' .. owner)
    if gate_is_of(owner) then call('PEXPIREAT', GATE, int(till)) end
  end
  return till
end

-- grant writes down that r is granted, and returns its fence. The lease of a request that has waited begins with its last sign
-- of life.
local function grant(r)
  touch()
  local held = holding(r.owner) or { grants = {}, modes = {} }
  state.work = state.work - 2 * #r.names
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
  local till = prolong(r.owner, (r.seen or NOW) + r.lease)
  if r.gate then take_gate(r.owner, r.note, till) end
  moved()
  return fence
end

-- leave takes a request out of the queue that will not be granted, and notes whom it kept back.
local function leave(r)
  dequeue(r)
  for i = 1, #r.names do
    local modes = band(CONFLICTS[r.modes[i]], waits_on(r.names[i]))
    for m = IS, modes > 0 and X or 0 do
      if band(modes, BIT[m]) ~= 0 then consider(r.names[i], m) end
    end
  end
  local held = holding(r.owner)
  if r.gate and not (held and held.modes[GATE_NODE] == X) and drop_gate(r.owner) then
    reclassify(r.owner)
    consider_all()
  end
end

-- settle sees to an owner's queued requests when the owner has begun to hold something, or more, or has ceased to. Those
-- of one that has begun are conversions now: they may pass waiters, and they may close a cycle, which ends them.
local function settle(owner)
  for _, ticket in ipairs(tickets_of(owner)) do
    local r = request(ticket)
    if r and holding(owner) then
      local claim, blocker = cycle(r)
      if claim then
        leave(r)
        tell(r, 'deadlock ' .. r.ref .. ' ' .. claim .. ' ' .. blocker)
      else
        converts(r, true)
        for i = 1, #r.names do consider('c' .. r.names[i], r.modes[i]) end
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
    call('ZREM', DEADLINES, 'o' .. owner)
    return
  end
  local rest = { grants = {}, modes = {} }
  for _, g in ipairs(held.grants) do
    if id and g.id ~= id then
      rest.grants[#rest.grants + 1] = g
      local names, modes = split(g.claims)
      for i = 1, #names do rest.modes[names[i]] = supremum(rest.modes[names[i]] or 0, modes[i]) end
    end
  end
  if #rest.grants > 0 then
    write_holding(owner, rest)
  else
    call('HDEL', LOCKS, 'o' .. owner)
    call('ZREM', DEADLINES, 'o' .. owner)
    state.holdings[owner] = false
  end
  local names = {}
  for name in pairs(held.modes) do names[#names + 1] = name end
  state.work = state.work - 2 * #names
  load_nodes(names)
  for name, mode in pairs(held.modes) do
    local left = rest.modes[name] or 0
    if left ~= mode then recount(name, mode, left) end
  end
  if held.modes[GATE_NODE] == X and rest.modes[GATE_NODE] ~= X then drop_gate(owner) end
  moved()
  if #rest.grants == 0 then settle(owner) end
end

-- evict takes everything away from an owner: its grants, and its places in the queue, whose waiters are told.
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

-- sweep reclaims what ended with its lease: nobody else would. The owner that the script is about goes first.
local function sweep(owner)
  local expired = call('ZRANGEBYSCORE', DEADLINES, '-inf', int(NOW), 'LIMIT', '0', int(MOST_EXPIRED))
  if #expired == 0 then return end
  state.unswept = #expired == MOST_EXPIRED
  if state.unswept and owner then
    local score = call('ZSCORE', DEADLINES, 'o' .. owner)
    if score and tonumber(score) <= NOW then table.insert(expired, 1, 'o' .. owner) end
  end
  touch()
  for _, member in ipairs(expired) do
    if not room_for(1) then
      state.unswept = true
      break
    end
    local kind, what = sub(member, 1, 1), sub(member, 2)
    if kind == 'o' then
      -- Its waiters go too: a new grant would make an owner look alive that has lost what it had.
      evict(what)
    elseif kind == 't' then
      call('ZREM', DEADLINES, member)
      call('ZREM', QUEUE, member)
    else
      local r = request(what)
      if r then leave(r) else call('ZREM', DEADLINES, member) end
    end
  end
end
