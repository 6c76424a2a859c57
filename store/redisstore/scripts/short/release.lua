-- The short way of RELEASE, for an owner's only grant, of a few claims, in a tree where nobody waits and nothing has ended. Its
-- reply is 1.
--
-- Whatever else there is to be seen to is left to the rest of the script. Where both could
-- go, they do the same: a test compares them.

do
  local owner = 'o' .. ARGV[1]
  local found = call('HMGET', LOCKS, owner, GATE_NODE)
  local record, gate_node = found[1], found[2]
  if record and call('EXISTS', QUEUE) == 0 and call('ZCOUNT', DEADLINES, '-inf', int(NOW)) == 0 then
    local id, _, _, claims, _, _, behind = struct.unpack(GRANT, record)
    local whole = id == ARGV[2] and behind > #record and #claims <= MOST_CLAIMS * CLAIM_BYTES and
      byte(claims, CLAIM_BYTES) ~= 48 + X

    if whole and tonumber(gate_node) == ONE + IX then
      -- Nobody else holds anything.
      call('DEL', LOCKS, DEADLINES)
      return 1
    end

    if whole then
      local fields, modes = split(claims)
      local values = call('HMGET', LOCKS, unpack(fields))
      local gone, kept = { owner }, {}
      for i = 1, #fields do
        local value, mode = values[i], modes[i]
        value = value - (mode == IS and ONE_SHARED or ONE)
        if value % ONE_SHARED < ONE then value = value - value % ONE end -- the last that was not IS
        if value == 0 then
          gone[#gone + 1] = fields[i]
        else
          kept[#kept + 1] = fields[i]
          kept[#kept + 1] = int(value)
        end
      end
      -- Deletions come first, so that locks can be given back at maxmemory.
      call('HDEL', LOCKS, unpack(gone))
      call('HSET', LOCKS, unpack(kept))
      -- The keys live as long as the last lease in them.
      local was_last = call('ZREVRANK', DEADLINES, owner) == 0
      call('ZREM', DEADLINES, owner)
      if was_last then
        local last = call('ZREVRANGE', DEADLINES, '0', '0', 'WITHSCORES')
        call('PEXPIREAT', LOCKS, last[2])
        call('PEXPIREAT', DEADLINES, last[2])
      end
      return 1
    end
  end
end
