-- Granting, giving back, and the hand-over from the one to the other.

-- A script grants to at most MOST_GRANTS waiters and looks at no more than MOST_LOOKS; what is left over is noted
-- in field p, and the reply says that there is more to do.
local MOST_GRANTS, MOST_LOOKS, MOST_EXPIRED = 16, 64, 32
local FENCE_TTL = '604800000' -- a week, ms

local grants_left, looks_left = MOST_GRANTS, MOST_LOOKS
local unswept = false

-- lists holds the queues that somebody may be let in from: <node><mode>, or c for the conversions -> the
-- ticket behind which to go on, '' for the beginning.
local lists = {}

local function consider(name, mode) lists[name .. mode] = '' end

-- grant writes down that r is granted, and returns its fence.
local function grant(r)
  local held = holding(r.owner)
  if not held then
    held = { grants = {}, modes = {} }
    holdings[r.owner] = held
  end
  local fence = int(math.max(tonumber(call('GET', FENCE) or 0) + 1, NOW_MICROS))
  call('SET', FENCE, fence, 'PX', FENCE_TTL)
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

  local score = call('ZSCORE', DEADLINES, 'o' .. r.owner)
  local deadline = math.max(tonumber(score or 0), NOW + tonumber(r.lease))
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
    for _, mode in ipairs(CONFLICTS[r.modes[i]]) do consider(r.names[i], mode) end
  end
  local held = holding(r.owner)
  if r.gate and not (held and held.modes[GATE_NODE] == X) and drop_gate(r.owner) then consider('c', '') end
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
        call('PUBLISH', r.channel, 'deadlock ' .. r.ref .. ' ' .. claim .. ' ' .. blocker)
      else
        converts(ticket, true)
        consider('c', '')
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
  load_nodes(names)
  for name, mode in pairs(held.modes) do
    local left = rest.modes[name] or 0
    if left ~= mode then recount(name, mode, left) end
  end
  if held.modes[GATE_NODE] == X and rest.modes[GATE_NODE] ~= X then drop_gate(owner) end
  if #rest.grants == 0 then settle(owner) end
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
    local what = string.sub(member, 2)
    if string.sub(member, 1, 1) == 'o' then
      give_back(what)
    else
      local r = request(what)
      if r then leave(r) else call('ZREM', DEADLINES, member) end
    end
  end
  changed = true
end

-- try grants a queued request if it can be granted, and wakes who waits for it.
local function try(r)
  local at, by = obstacle(r)
  if r.gate and (not at or by == 'holder') and not gate_is_of(r.owner) then
    -- The gate is r's from here on: no new owner gets in while the present ones come to their end.
    take_gate(r.owner, r.note, tonumber(call('ZSCORE', DEADLINES, 'w' .. r.ticket)))
    converts(r.ticket, true)
    changed = true
  end
  if at then
    if by == 'gate' then call('HSET', LOCKS, 'x', '1') end
    return false
  end
  dequeue(r)
  local fence = grant(r)
  settle(r.owner)
  grants_left = grants_left - 1
  call('PUBLISH', r.channel, 'granted ' .. r.ref .. ' ' .. fence)
  return true
end

-- look_through tries the requests of one list in order of arrival.
local function look_through(list, after)
  local name, mode
  if list ~= 'c' then
    name, mode = string.sub(list, 1, NAME_BYTES), tonumber(string.sub(list, CLAIM_BYTES))
  end
  while true do
    local from = after == '' and '[' .. list or '(' .. list .. after
    local members = call('ZRANGEBYLEX', QUEUE, from, '(' .. list .. AFTER_TICKETS, 'LIMIT', '0', int(MOST_GRANTS))
    for _, member in ipairs(members) do
      -- Where the holders leave no room, the rest of the list need not be asked: conversions, for whom
      -- their own holds don't count, have a list of their own.
      if name and not admits(node(name), mode, 0) then return end
      if grants_left == 0 or looks_left == 0 then
        lists[list] = after
        return
      end
      looks_left = looks_left - 1
      after = string.sub(member, #list + 1)
      local r = request(after)
      if r and not try(r) and name and not COMPATIBLE[mode][mode] and not holding(r.owner) then
        return -- whoever comes later conflicts with this one and waits for it
      end
    end
    if #members < MOST_GRANTS then return end
  end
end

-- hand_over lets in those waiters whom the script has made room for.
local function hand_over()
  for name, n in pairs(nodes) do
    if n.before then
      for mode = IS, X do
        if not admits(n.before, mode, 0) and admits(n, mode, 0) then consider(name, mode) end
      end
      n.before = nil
      consider('c', '')
    end
  end
  if not queued then
    lists = {}
    return
  end
  local pending = call('HGET', LOCKS, 'p')
  if pending then
    local at = 1
    while at <= #pending do
      local list, after
      list, after, at = struct.unpack('>I1c0I1c0', pending, at)
      lists[list] = lists[list] or after
    end
    call('HDEL', LOCKS, 'p')
    changed = true
  end
  -- A gate key of another program goes away without a word.
  if not gate() and call('HGET', LOCKS, 'x') then
    call('HDEL', LOCKS, 'x')
    for mode = IS, X do consider(GATE_NODE, mode) end
    consider('c', '')
    changed = true
  end
  -- Conversions first: others may be waiting for what their owners hold.
  while next(lists) and grants_left > 0 and looks_left > 0 do
    local list = lists.c and 'c' or next(lists)
    local after = lists[list]
    lists[list] = nil
    look_through(list, after)
  end
end

-- finish hands over, writes back what has changed, and lets the keys live as long as the last lease in them and no
-- longer. It returns '1' if there is more to hand over and '0' if not.
local function finish()
  hand_over()
  local more = '0'
  if unswept or next(lists) then more = '1' end
  if not changed then return more end
  if next(lists) then
    local pending = {}
    for list, after in pairs(lists) do
      pending[#pending + 1] = struct.pack('>I1c0I1c0', #list, list, #after, after)
    end
    call('HSET', LOCKS, 'p', table.concat(pending))
  end
  write_nodes()
  local last = call('ZREVRANGE', DEADLINES, '0', '0', 'WITHSCORES')
  if #last == 0 then
    call('DEL', LOCKS, QUEUE)
  else
    call('PEXPIREAT', LOCKS, last[2])
    call('PEXPIREAT', DEADLINES, last[2])
    if queued then call('PEXPIREAT', QUEUE, last[2]) end
  end
  return more
end
