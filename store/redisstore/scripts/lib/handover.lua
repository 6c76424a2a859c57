-- The hand-over: whom the script has made room for is let in, in order of arrival.

-- When a script has done its portion (see work_left in grant.lua), what is left over is noted in field p, and the reply says
-- that there is more to do.

local FEW = 8   -- so many waiters are gone through one and all, which is faster than to find those concerned
local PAGE = 16 -- so many of a list are read at once

local stopped = false -- the portion is done

-- stops_before says whether the portion ends before r.
local function stops_before(r)
  stopped = not room_for(#r.names)
  return stopped
end

-- try grants a queued request if it can be granted, and wakes who waits for it. See obstacle for ahead.
local function try(r, ahead)
  work_left = work_left - #r.names
  local at, by = obstacle(r, ahead)
  if r.gate and (not at or by == 'holder') and not gate_is_of(r.owner) then
    -- The gate is r's from here on: no new owner gets in while the present ones come to their end.
    take_gate(r.owner, r.note, tonumber(call('ZSCORE', DEADLINES, 'w' .. r.ticket)))
    reclassify(r.owner)
    changed = true
  end
  if at then
    if by == 'gate' then call('HSET', LOCKS, 'x', '1') end
    return false
  end
  dequeue(r)
  local fence = grant(r)
  settle(r.owner)
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
  return list ~= 'c' and not compatible(mode, mode)
end

-- hand_over_round tries requests from all lists together, in order of arrival, as far as a page of each list goes.
local function hand_over_round()
  local round = lists
  lists = {}
  local tickets, sources = {}, {}
  local last, cut = {}, {} -- for each list the last ticket read, and whether there may be more behind it
  local horizon            -- the first of the last tickets of lists that are cut: beyond it, the order is not known
  for list, after in pairs(round) do
    if has_room(list) then
      local from = after == '' and '[' .. list or '(' .. list .. after
      local members = call('ZRANGEBYLEX', QUEUE, from, '(' .. list .. AFTER_TICKETS, 'LIMIT', '0', int(PAGE))
      for _, member in ipairs(members) do
        local ticket = sub(member, #list + 1)
        if not sources[ticket] then
          sources[ticket] = {}
          tickets[#tickets + 1] = ticket
        end
        table.insert(sources[ticket], list)
        last[list] = ticket
      end
      if #members == PAGE then
        cut[list] = true
        if not horizon or last[list] < horizon then horizon = last[list] end
      end
    end
  end
  table.sort(tickets)

  local done, closed = '', {}
  for _, ticket in ipairs(tickets) do
    if horizon and ticket > horizon then break end
    local open = false
    for _, list in ipairs(sources[ticket]) do open = open or (not closed[list] and has_room(list)) end
    if open then
      local r = request(ticket)
      if r and stops_before(r) then break end
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
end

-- hand_over_few tries all requests there are, in order of arrival, if they are few. It returns false if they are not.
local function hand_over_few()
  -- Every request has a claim on the gate node.
  local members = call('ZRANGEBYLEX', QUEUE, '[' .. GATE_NODE, '(' .. GATE_NODE .. AFTER_TICKETS, 'LIMIT', '0', int(FEW + 1))
  if #members > FEW then return false end
  weaker, lists = {}, {}
  local tickets = {}
  for i = 1, #members do tickets[i] = sub(members[i], CLAIM_BYTES + 1) end
  table.sort(tickets)
  local ahead = {}
  for _, ticket in ipairs(tickets) do
    local r = request(ticket)
    if r and stops_before(r) then
      consider_all()
      break
    end
    if r and not try(r, ahead) then stand(ahead, r) end
  end
  return true
end

-- note_room notes the queues of those nodes that have become weaker, as far as that lets anybody in.
local function note_room()
  for name, before in pairs(weaker) do
    local now = #awaited(name, '1') > 0 and node(name)
    for mode = IS, now and X or 0 do
      if not admits(before, mode, 0) and admits(now, mode, 0) then consider(name, mode) end
    end
    consider_conversions()
  end
  weaker = {}
end

-- take_up takes up what another script has left over, and what a gate key of another program, which goes
-- away without a word, has kept back.
local function take_up()
  local left = call('HMGET', LOCKS, 'p', 'x')
  local pending, gate_awaited = left[1], left[2]
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
  if gate_awaited and not gate() then
    call('HDEL', LOCKS, 'x')
    consider_all()
    changed = true
  end
end

-- hand_over lets in those waiters whom the script has made room for.
local function hand_over()
  if not queued then
    weaker, lists = {}, {}
    return
  end
  take_up()
  while not stopped and (next(weaker) or next(lists)) do
    if not hand_over_few() then
      note_room()
      hand_over_round()
    end
  end
  note_room() -- for the next script, if this one has stopped
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
