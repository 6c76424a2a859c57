-- The short way of RELEASE, for an owner's only grant. The grant has few claims, the owner waits
-- for nothing, nobody waits for what it has, and nothing has expired. Its reply is 1.
--
-- It leaves all other cases to the rest of the script. Where both could answer, they do the same:
-- TestWays compares them.

do
  local owner = 'o' .. ARGV[1]
  local found = call('HMGET', LOCKS, owner, GATE_NODE, 'r' .. ARGV[1], 'l')
  local record, gate_node = found[1], found[2]
  if record and gate_node and not found[3] and not found[4] and call('ZCOUNT', DEADLINES, '-inf', int(NOW)) == 0 then
    local id, _, _, claims, _, _, behind = struct.unpack(GRANT, record)
    local whole = id == ARGV[2] and behind > #record and #claims <= MOST_CLAIMS * CLAIM_BYTES and
      byte(claims, CLAIM_BYTES) ~= 48 + X

    if whole and tonumber(gate_node) == ONE + IX and call('EXISTS', QUEUE) == 0 then
      -- Nobody else holds anything.
      call('DEL', LOCKS, DEADLINES)
      return 1
    end

    local gone, kept = { owner, 'l' }, { 'l', AT_WORK }
    if whole then
      local fields, modes = split(claims)
      local values = call('HMGET', LOCKS, unpack(fields))
      for i = 1, #fields do
        local value, mode = values[i], modes[i]
        value = value - (mode == IS and ONE_SHARED or ONE)
        if value >= ONE_WAITING and band(CONFLICTS[mode], floor(value / ONE_WAITING)) ~= 0 then
          whole = false -- a request waits for this hold to go
          break
        end
        if value % ONE_SHARED < ONE then value = value - value % ONE end -- the last that was not IS
        if value == 0 then
          gone[#gone + 1] = fields[i]
        else
          kept[#kept + 1] = fields[i]
          kept[#kept + 1] = int(value)
        end
      end
    end
    if whole then
      -- The first write marks the table as being changed, and the last removes the mark. The
      -- release must go on at maxmemory too.
      local answer = redis.pcall('HSET', LOCKS, unpack(kept))
      if type(answer) == 'table' then
        call('PEXPIRE', FENCE, FENCE_TTL)
        call('HSET', LOCKS, unpack(kept))
      end
      -- The keys live as long as the last lease in them.
      local was_last = call('ZREVRANK', DEADLINES, owner) == 0
      -- A grant that was apart had two members, and either may have been the last.
      if call('ZREM', DEADLINES, owner, apart.of(ARGV[1], id)) == 2 or was_last then
        local last = call('ZREVRANGE', DEADLINES, '0', '0', 'WITHSCORES')
        call('PEXPIREAT', LOCKS, last[2])
        call('PEXPIREAT', DEADLINES, last[2])
      end
      call('HDEL', LOCKS, unpack(gone))
      return 1
    end
  end
end
