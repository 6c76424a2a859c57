-- The hand-over: it grants, in order of arrival, the waiters that the script has made room for.
--
-- The hand-over tries these waiters:
--   * A node has become weaker (state.weaker): the waiters on its lists <node><mode> that there is
--     room for at last; and those on its lists c<node><mode>, whose owners hold something: their
--     own holds do not count.
--   * A request has left the queue: the waiters on the lists of its nodes that it kept back.
--   * All conversions, whenever anybody is granted something, gives something up or begins to wait:
--     any that only waiters block may have become free to pass. They are few.
--
-- A worked example. Owner A holds X on /a and B holds X on /c. W asks for X on /a/b and waits. Then
-- A releases. Times are shortened, and a path stands for the bytes n<8 bytes> that name its node:
--
--   W waits
--     locks      gate-node 18 (IX, two owners)    / 18 + 2 ONE_WAITING    /a 13 (X) + 2 ONE_WAITING
--                /a/b 16 ONE_WAITING    /c 13
--                oA [grant 1, fence 7, ..., gate-node IX, / IX, /a X]    oB [grant 2, fence 8, ...]
--                w0000000000000005 [W, grant 3, ..., gate-node IX, / IX, /a IX, /a/b X]
--                rW 0000000000000005    k 0000000000000005
--     deadlines  oA 9000    oB 9100    w0000000000000005 9200
--     queue      gate-node20000000000000005    /20000000000000005    /a20000000000000005
--                /a/b50000000000000005
--   A has released
--     locks      gate-node 18    / 18    /a 10    /a/b 13    /c 13    oB [grant 2, fence 8, ...]
--                oW [grant 3, fence 9, ...]
--     deadlines  oB 9100    oW 9200: W's last question is one lease old then
--
-- In the release, give_back deletes oA and counts down gate-node, / and /a, which were IX, IX and
-- X: they are in state.weaker. Only one request waits, so hand_over_few tries it. It has no
-- obstacle, leaves the queue and is granted, and "granted <ref> 9" is published to W's process.

-- await_gate notes that a request waits for somebody else's gate key. Such a key goes away
-- without a message.
local function await_gate()
  if state.awaited then return end
  touch()
  call('HSET', LOCKS, 'x', '1')
  state.awaited = true
end

-- may_close reports whether r, which asks for the gate, may take the gate key while others hold. An
-- owner that holds something and waits for the gate comes first: the others wait for it.
local function may_close(r) return holding(r.owner) or #listed('c' .. GATE_NODE .. X) == 0 end

-- try grants a queued request if it can, and wakes the waiter. It returns whether the request has
-- left the queue.
local function try(r)
  if r.seen + r.lease <= NOW then
    leave(r) -- no sign of life from its process for a whole lease
    return true
  end
  local at, by = obstacle(r)
  if r.gate and not gate_is_of(r.owner) and (not at or by == 'holder' and may_close(r)) then
    -- The gate is r's from here on: no new owner gets in while the present ones drain.
    touch()
    close(r, tonumber(call('ZSCORE', DEADLINES, 'w' .. r.ticket) or NOW + r.lease))
  end
  if at then
    if by == 'gate' then
      await_gate()
      tell(r, 'again ' .. r.ref) -- its process has to ask from time to time
    end
    return false
  end
  dequeue(r)
  local fence = grant(r)
  settle(r.owner)
  tell(r, 'granted ' .. r.ref .. ' ' .. fence)
  return true
end

local function is_of_conversions(list) return #list > CLAIM_BYTES end

-- has_room reports whether the holders leave room for a mode on a node, for an owner that holds
-- nothing. It always says yes for a list of conversions: their own holds do not count.
local function has_room(list)
  return is_of_conversions(list) or
    admits(node(sub(list, 1, CLAIM_BYTES - 1)), tonumber(sub(list, CLAIM_BYTES)), 0)
end

-- conflicts_with_itself reports whether only one owner at a time can have what a list's requests
-- want.
local function conflicts_with_itself(list)
  local mode = tonumber(sub(list, CLAIM_BYTES))
  return not is_of_conversions(list) and not compatible(mode, mode)
end

-- hand_over_round tries the requests on all lists to look through, in order of arrival.
local function hand_over_round()
  local round, tickets, sources = state.through, {}, {}
  state.through = {}
  for list, after in pairs(round) do
    if has_room(list) then
      local from = after == '' and '[' .. list or '(' .. list .. after .. AFTER_TICKETS
      for _, member in ipairs(call('ZRANGEBYLEX', QUEUE, from, '(' .. list .. AFTER_TICKETS)) do
        local ticket = sub(member, #list + 1, #list + TICKET_BYTES)
        if not sources[ticket] then
          sources[ticket] = {}
          tickets[#tickets + 1] = ticket
        end
        table.insert(sources[ticket], list)
      end
    end
  end
  table.sort(tickets)

  local closed = {}
  for _, ticket in ipairs(tickets) do
    local open = false
    for _, list in ipairs(sources[ticket]) do open = open or (not closed[list] and has_room(list)) end
    local r = open and request(ticket)
    if r and not try(r) and not holding(r.owner) and #tickets_of(r.owner) == 1 then
      -- Later requests on such a list conflict with this one, and wait for it.
      for _, list in ipairs(sources[ticket]) do closed[list] = conflicts_with_itself(list) end
    end
  end
end

-- lets_in reports whether a node that has become weaker has room for a mode that it had no room
-- for. It asks for an owner that has the node in some mode from own to most.
local function lets_in(before, now, mode, own, most)
  for has = own, most do
    local want = supremum(has, mode)
    if not admits(before, want, has) and admits(now, want, has) then return true end
  end
  return false
end

-- note_room considers the queues of the nodes that have become weaker, where that lets anybody in.
local function note_room()
  for name, before in pairs(state.weaker) do
    local modes = waits_on(name)
    for mode = IS, modes > 0 and X or 0 do
      if band(modes, BIT[mode]) ~= 0 then
        local now = node(name)
        if lets_in(before, now, mode, 0, 0) then consider(name, mode) end
        if lists.converting() and lets_in(before, now, mode, 0, SIX) then consider('c' .. name, mode) end
      end
    end
  end
  state.weaker = {}
end

-- look_again tries the conversions, if who may pass whom has changed: any that only waiters block
-- may be free to pass now. There are few of them. It returns whether it granted any.
local function look_again()
  if not state.moved or not lists.converting() then return false end
  state.moved = false
  local any, tickets = false, {}
  for mode = IX, X, X - IX do
    for _, ticket in ipairs(listed('c' .. GATE_NODE .. mode)) do tickets[#tickets + 1] = ticket end
  end
  table.sort(tickets)
  for _, ticket in ipairs(tickets) do
    local r = request(ticket)
    any = r and try(r) or any
  end
  return any
end

-- hand_over grants the waiters that the script has made room for.
local function hand_over()
  if not state.queued then
    state.weaker, state.through, state.moved = {}, {}, false
    return
  end
  if state.awaited and not gate() then -- another program's key goes away without a message
    touch()
    call('HDEL', LOCKS, 'x')
    state.awaited, state.all = false, true
  end
  if state.all then
    state.all = false
    consider_all()
  end
  repeat
    while next(state.weaker) or next(state.through) do
      note_room()
      hand_over_round()
    end
  until not look_again()
end

-- needs_library reports whether there is work that the early scripts cannot see in the nodes.
local function needs_library()
  return state.awaited or lists.any(GATE_NODE .. X)
end

-- finish hands over, writes back what has changed, and publishes. It makes the keys live exactly as
-- long as the last lease in them. It returns its arguments as the reply.
local function finish(...)
  hand_over()
  if state.changed then
    write_nodes()
    local last = call('ZREVRANGE', DEADLINES, '0', '0', 'WITHSCORES')
    if #last == 0 then
      call('DEL', LOCKS, QUEUE)
    else
      call('PEXPIREAT', LOCKS, last[2])
      call('PEXPIREAT', DEADLINES, last[2])
      if state.queued then call('PEXPIREAT', QUEUE, last[2]) end
      -- The mark goes when the table is whole again: see touch.
      if needs_library() then
        call('HSET', LOCKS, 'l', LIBRARY_ONLY)
      else
        call('HDEL', LOCKS, 'l')
      end
    end
  end
  -- If the user may not publish, the waiters ask again by themselves.
  for _, message in ipairs(state.messages) do call('PUBLISH', unpack(message)) end
  return { ... }
end
