-- The hand-over: it grants, in order of arrival, the waiters that the script has made room for.
--
-- It tries these waiters:
--   * Those on the lists <node><mode> of the queue that state.freed names, where the holders leave
--     room for that mode: somebody has given up what conflicts with it, on that node.
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
-- X: so state.freed has, for /a, all modes. W's request is on the list of /a in IX. It has no
-- obstacle, leaves the queue and is granted, and "granted <ref> 9" is published to W's process.

-- may_close reports whether r, which asks for the gate, may take the gate key while others hold. An
-- owner that holds something and waits for the gate comes first: the others wait for it.
local function may_close(r) return holding(r.owner) or #listed('c' .. GATE_NODE .. X) == 0 end

-- try grants a queued request if it can, and wakes the waiter.
local function try(r)
  if r.seen + r.lease <= NOW then
    leave(r) -- no sign of life from its process for a whole lease
    return
  end
  local at, by = obstacle(r)
  if r.gate and not gate_is_of(r.owner) and (not at or by == 'holder' and may_close(r)) then
    -- The gate is r's from here on: no new owner gets in while the present ones drain.
    touch()
    close(r, tonumber(call('ZSCORE', DEADLINES, 'w' .. r.ticket) or NOW + r.lease))
  end
  if by == 'gate' then tell(r, 'again ' .. r.ref) end -- its process has to ask from time to time
  if at then return end
  dequeue(r)
  local fence = grant(r)
  recheck_waits(r.owner)
  tell(r, 'granted ' .. r.ref .. ' ' .. fence)
end

-- candidates returns the tickets of the waiters to try, in order of arrival, and for each the list
-- that it is on: { node, mode }, or {} if it is a conversion, whose own holds do not count.
local function candidates()
  local tickets, on = {}, {}
  local function add(list, node_and_mode)
    for _, ticket in ipairs(listed(list)) do
      if not on[ticket] then
        on[ticket] = node_and_mode
        tickets[#tickets + 1] = ticket
      end
    end
  end
  if state.moved and lists.converting() then
    add('c' .. GATE_NODE .. IX, {})
    add('c' .. GATE_NODE .. X, {})
  end
  for name, freed in pairs(state.freed) do
    local modes = band(freed, waits_on(name))
    for mode = IS, modes > 0 and X or 0 do
      if band(modes, BIT[mode]) ~= 0 and admits(node(name), mode, 0) then add(name .. mode, { name, mode }) end
    end
  end
  table.sort(tickets)
  return tickets, on
end

-- hand_over grants the waiters that the script has made room for.
local function hand_over()
  while state.queued and (next(state.freed) or state.moved and lists.converting()) do
    local tickets, on = candidates()
    state.freed, state.moved = {}, false
    for _, ticket in ipairs(tickets) do
      local name, mode = unpack(on[ticket])
      local r = (not name or admits(node(name), mode, 0)) and request(ticket)
      if r then try(r) end
    end
  end
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
      if lists.any(GATE_NODE .. X) then -- the nodes do not show who waits for the gate
        call('HSET', LOCKS, 'l', FAST_PATH_OFF)
      else
        call('HDEL', LOCKS, 'l')
      end
    end
  end
  -- If the user may not publish, the waiters ask again by themselves.
  for _, message in ipairs(state.messages) do call('PUBLISH', unpack(message)) end
  return { ... }
end
