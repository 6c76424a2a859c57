-- Repair of the table after a script has failed half-way.
--
-- Redis does not roll back a script that fails. But each record is written by one command, and all
-- else follows from the records and their deadlines. So repair keeps those, and makes the rest
-- anew.

local function repair()
  local all = call('HGETALL', LOCKS)
  local scored = call('ZRANGE', DEADLINES, '0', '-1')
  local ends, has, gone, expired = {}, {}, {}, {}
  for _, member in ipairs(scored) do ends[member] = true end

  local owners, waiting, last = {}, {}, nil
  for i = 1, #all, 2 do
    local field, value = all[i], all[i + 1]
    local kind = sub(field, 1, 1)
    if ends[field] and (kind == 't' or #value > 0 and (kind == 'o' or kind == 'w')) then
      has[field] = true
      if kind == 'o' then
        owners[sub(field, 2)] = unpack_holding(value)
      elseif kind == 'w' then
        waiting[#waiting + 1] = sub(field, 2)
      end
    elseif field ~= 'k' and field ~= 'l' then
      gone[#gone + 1] = field
    end
  end
  local places_of = {}
  for _, member in ipairs(scored) do
    local kind = sub(member, 1, 1)
    local held, id
    if kind == 'g' then
      local owner
      owner, id = apart.parts(member)
      held = owners[owner]
    end
    for _, g in ipairs(held and held.grants or {}) do has[member] = has[member] or g.id == id end
    if not has[member] then expired[#expired + 1] = member end
  end

  touch()
  in_portions('HDEL', LOCKS, gone)
  in_portions('ZREM', DEADLINES, expired)
  call('DEL', QUEUE)
  for owner, held in pairs(owners) do
    state.holdings[owner] = held
    for name, mode in pairs(held.modes) do
      state.nodes[name] = state.nodes[name] or unpack_node()
      recount(name, 0, mode)
    end
  end
  table.sort(waiting)
  local tickets = {}
  for _, ticket in ipairs(waiting) do
    local r = request(ticket)
    local members, conversions = places(r)
    for i = 1, #members do
      places_of[#places_of + 1] = '0'
      places_of[#places_of + 1] = members[i]
      if owners[r.owner] or gate_is_of(r.owner) then
        places_of[#places_of + 1] = '0'
        places_of[#places_of + 1] = conversions[i]
      end
      local name, bit = r.names[i], BIT[r.modes[i]]
      local n = state.nodes[name] or unpack_node()
      state.nodes[name] = n
      if name ~= GATE_NODE and band(n.waiting, bit) == 0 then n.waiting, n.dirty = n.waiting + bit, true end
    end
    if owners[r.owner] or gate_is_of(r.owner) then
      places_of[#places_of + 1] = '0'
      places_of[#places_of + 1] = 'b' .. ticket
    end
    tickets[r.owner] = tickets[r.owner] or {}
    table.insert(tickets[r.owner], ticket)
    last = ticket
  end
  for owner, theirs in pairs(tickets) do write_tickets(owner, theirs) end
  if last then call('HSET', LOCKS, 'k', last) else call('HDEL', LOCKS, 'k') end
  in_portions('ZADD', QUEUE, places_of)
  state.queued = #places_of > 0
  write_nodes()
  moved()
end
