-- Granting, and taking away: by release, by force, by the end of a lease.

-- A script does no more than a portion of what there is to hand over and to reclaim, so that the server is kept from
-- its other work for less than a millisecond: it begins nothing for which too little is left of so many looks at nodes,
-- unless it has done nothing yet.
local WORK = 200
local work_left = WORK

local function room_for(nodes) return work_left >= nodes or work_left == WORK end

local MOST_EXPIRED = 16 -- leases that one script reclaims; unswept notes that there are more
local unswept = false

-- lists holds the queues that somebody may be let in from: <node><mode>, or c for the conversions -> the
-- ticket behind which to go on, '' for the beginning. The hand-over goes through them (see handover.lua).
local lists = {}

local function consider(name, mode) lists[name .. mode] = '' end

local function consider_conversions() lists.c = '' end

-- consider_all considers everybody who waits: every request has a claim on the gate node.
local function consider_all()
  for mode = IS, X do consider(GATE_NODE, mode) end
  consider_conversions()
end

-- grant writes down that r is granted, and returns its fence.
local function grant(r)
  local held = holding(r.owner)
  local deadline = NOW + tonumber(r.lease)
  if held then
    deadline = math.max(deadline, tonumber(call('ZSCORE', DEADLINES, 'o' .. r.owner) or 0))
  else
    held = { grants = {}, modes = {} }
    holdings[r.owner] = held
  end
  work_left = work_left - 2 * #r.names
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
  call('ZADD', DEADLINES, int(deadline), 'o' .. r.owner)
  if r.gate then
    take_gate(r.owner, r.note, deadline)
  elseif gate_is_of(r.owner) then
    call('PEXPIREAT', GATE, int(deadline))
  end
  changed = true
  return fence
end

-- leave takes a request out of the queue that will not be granted, and notes whom it kept back.
local function leave(r)
  dequeue(r)
  for i = 1, #r.names do
    for _, mode in ipairs(conflicts_of(r.modes[i])) do consider(r.names[i], mode) end
  end
  local held = holding(r.owner)
  if r.gate and not (held and held.modes[GATE_NODE] == X) and drop_gate(r.owner) then
    reclassify(r.owner)
    consider_conversions()
  end
end

-- settle sees to an owner's queued requests when the owner has begun or ceased to hold something. Those
-- of one that has begun are conversions now: they may pass waiters, and they may close a cycle, which ends them.
local function settle(owner)
  for _, ticket in ipairs(tickets_of(owner)) do
    local r = request(ticket)
    if holding(owner) then
      local claim, blocker = cycle(r)
      if claim then
        leave(r)
        tell(r, 'deadlock ' .. r.ref .. ' ' .. claim .. ' ' .. blocker)
      else
        converts(ticket, true)
        consider_conversions()
      end
    else
      converts(ticket, gate_is_of(owner))
    end
  end
end

-- give_back takes one grant away from an owner, or all of them if id is nil.
local function give_back(owner, id)
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
  call('HDEL', LOCKS, 'o' .. owner)
  if #rest.grants > 0 then
    write_holding(owner, rest)
    holdings[owner] = rest
  else
    call('ZREM', DEADLINES, 'o' .. owner)
    holdings[owner] = false
  end
  local names = {}
  for name in pairs(held.modes) do names[#names + 1] = name end
  work_left = work_left - 2 * #names
  load_nodes(names)
  for name, mode in pairs(held.modes) do
    local left = rest.modes[name] or 0
    if left ~= mode then recount(name, mode, left) end
  end
  if held.modes[GATE_NODE] == X and rest.modes[GATE_NODE] ~= X then drop_gate(owner) end
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
  unswept = #expired == MOST_EXPIRED
  if unswept and owner then
    local score = call('ZSCORE', DEADLINES, 'o' .. owner)
    if score and tonumber(score) <= NOW then table.insert(expired, 1, 'o' .. owner) end
  end
  for _, member in ipairs(expired) do
    if not room_for(1) then
      unswept = true
      break
    end
    local what = sub(member, 2)
    if sub(member, 1, 1) == 'o' then
      -- Its waiters go too: a new grant would make an owner look alive that has lost what it had.
      evict(what)
    else
      local r = request(what)
      if r then leave(r) else call('ZREM', DEADLINES, member) end
    end
  end
  changed = true
end
