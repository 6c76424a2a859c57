-- Granting, giving back, and the hand-over from the one to the other.

-- A script grants to at most MOST_GRANTS waiters, tries no more than MOST_TRIES and reclaims no more than
-- MOST_EXPIRED leases. What is left over is noted in field p, and the reply says that there is more to do.
local MOST_GRANTS, MOST_TRIES, MOST_EXPIRED = 16, 64, 32

local grants_left, tries_left = MOST_GRANTS, MOST_TRIES
local unswept = false

-- lists holds the queues that somebody may be let in from: <node><mode>, or c for the conversions -> the
-- ticket behind which to go on, '' for the beginning.
local lists = {}

local function consider(name, mode) lists[name .. mode] = '' end

local function consider_conversions() lists.c = '' end

-- grant writes down that r is granted, and returns its fence.
local function grant(r)
  local held = holding(r.owner)
  if not held then
    held = { grants = {}, modes = {} }
    holdings[r.owner] = held
  end
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
  if r.gate and not (held and held.modes[GATE_NODE] == X) and drop_gate(r.owner) then consider_conversions() end
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
  tell(r, 'granted ' .. r.ref .. ' ' .. fence)
  return true
end

-- has_room says whether an owner who holds nothing may get a node in a mode, going by the holders. For
-- conversions, whose own holds don't count, the list does not tell.
local function has_room(list)
  return list == 'c' or
    admits(node(sub(list, 1, NAME_BYTES)), tonumber(sub(list, CLAIM_BYTES)), 0)
end

-- conflicts_with_itself says whether only one owner at a time can get what those on the list want.
local function conflicts_with_itself(list)
  local mode = tonumber(sub(list, CLAIM_BYTES))
  return list ~= 'c' and not COMPATIBLE[mode][mode]
end

-- hand_over_round tries requests from all lists together, in order of arrival, as far as the next few of each list
-- go. It returns false when the script has done its portion.
local function hand_over_round()
  local round = lists
  lists = {}
  local tickets, sources = {}, {}
  local last, cut = {}, {} -- for each list the last ticket read, and whether there may be more behind it
  local horizon            -- the first of the last tickets of lists that are cut: beyond it, the order is not known
  for list, after in pairs(round) do
    if has_room(list) then
      local from = after == '' and '[' .. list or '(' .. list .. after
      local members = call('ZRANGEBYLEX', QUEUE, from, '(' .. list .. AFTER_TICKETS, 'LIMIT', '0', int(MOST_GRANTS))
      for _, member in ipairs(members) do
        local ticket = sub(member, #list + 1)
        if not sources[ticket] then
          sources[ticket] = {}
          tickets[#tickets + 1] = ticket
        end
        table.insert(sources[ticket], list)
        last[list] = ticket
      end
      if #members == MOST_GRANTS then
        cut[list] = true
        if not horizon or last[list] < horizon then horizon = last[list] end
      end
    end
  end
  table.sort(tickets)

  local finished, done, closed = true, '', {}
  for _, ticket in ipairs(tickets) do
    if horizon and ticket > horizon then break end
    local open = false
    for _, list in ipairs(sources[ticket]) do open = open or (not closed[list] and has_room(list)) end
    if open then
      if grants_left == 0 or tries_left == 0 then
        finished = false
        break
      end
      tries_left = tries_left - 1
      local r = request(ticket)
      if r and not try(r) and not holding(r.owner) and #tickets_of(r.owner) == 1 then
        -- Whoever stands behind it on such a list conflicts with it and waits for it.
        for _, list in ipairs(sources[ticket]) do closed[list] = conflicts_with_itself(list) end
      end
    end
    done = ticket
  end
  for list, ticket in pairs(last) do
    if (cut[list] or ticket > done) and not closed[list] and not lists[list] then
      lists[list] = done > round[list] and done or round[list]
    end
  end
  return finished
end

-- hand_over lets in those waiters whom the script has made room for.
local function hand_over()
  for name, n in pairs(nodes) do
    if n.before then
      for mode = IS, X do
        if not admits(n.before, mode, 0) and admits(n, mode, 0) then consider(name, mode) end
      end
      n.before = nil
      consider_conversions()
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
    consider_conversions()
    changed = true
  end
  while next(lists) and hand_over_round() do end
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
