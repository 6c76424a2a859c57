-- The common case of RELEASE, which ends the script before the library is created: an owner gives
-- back its only grant, waits for nothing, and nobody waits for what it has.
--
-- Every other case is left to the rest of the script. If both could answer, they do the same:
-- TestChaos checks the table after each, and proof/smallworld their answers by one rule.

do
  local owner = 'o' .. ARGV[1]
  local found = call('HMGET', LOCKS, owner, 'l', 'r' .. ARGV[1], 'k', GATE_NODE)
  local record = found[1]
  if record and not found[2] and not found[3] and call('ZCOUNT', DEADLINES, '-inf', int(NOW)) == 0 then
    local grant, second = cmsgpack.unpack(record)
    local id, claims = grant.id, grant.claims
    local whole = id == ARGV[2] and not second and #claims <= MOST_CLAIMS * CLAIM_BYTES and
      byte(claims, CLAIM_BYTES) ~= 48 + X

    if whole and found[5] == '10' and not found[4] then -- one owner is in the tree, and nobody waits
      if call('DEL', LOCKS, DEADLINES) == 2 then return { 'released' } end
      whole = false -- somebody has deleted the deadlines, and with them all leases
    end
    whole = whole and call('EXISTS', DEADLINES) == 1

    local gone, kept = { owner, 'l' }, { 'l', AT_WORK }
    if whole then
      local fields, modes = split(claims)
      local values = call('HMGET', LOCKS, unpack(fields))
      for i = 1, #fields do
        local value, mode = values[i], modes[i]
        value = value - (mode == IS and ONE_SHARED or ONE)
        if value >= ONE_WAITING and band(byte(CONFLICTING, mode), floor(value / ONE_WAITING)) ~= 0 then
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
      -- The first write marks the table as being changed, and HDEL removes the mark. It must go on
      -- at maxmemory too.
      if type(redis.pcall('HSET', LOCKS, unpack(kept))) == 'table' then
        call('PEXPIRE', FENCE, FENCE_TTL)
        call('HSET', LOCKS, unpack(kept))
      end
      call('ZREM', DEADLINES, owner, apart_member(ARGV[1], id))
      call('HDEL', LOCKS, unpack(gone))
      local last = call('ZREVRANGE', DEADLINES, '0', '0', 'WITHSCORES')
      if last[2] then
        call('PEXPIREAT', LOCKS, last[2])
        call('PEXPIREAT', DEADLINES, last[2])
        if found[4] then call('PEXPIREAT', QUEUE, last[2]) end
      end
      return { 'released' }
    end
  end
end
