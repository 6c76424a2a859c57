-- The common case of ACQUIRE, which ends the script before the library is created: a new owner
-- gets nodes that have room, and that nobody waits for in a conflicting mode. No lease has ended,
-- and the gate key is free.
--
-- Every other case is left to the rest of the script. If both could answer, they do the same:
-- TestChaos checks the table after each, and proof/smallworld their answers by one rule.

if ARGV[11] ~= '1' and byte(ARGV[7], CLAIM_BYTES) ~= 48 + X and #ARGV[7] <= MOST_CLAIMS * CLAIM_BYTES then
  local owner, id, claims = 'o' .. ARGV[1], ARGV[2], ARGV[7]
  -- What HSET gets: the nodes' names, and the modes' digits until the nodes' values replace them.
  local n = #claims / CLAIM_BYTES
  local writes = { struct.unpack(string.rep('c9B', n), claims) }
  local there = call('EXISTS', LOCKS, DEADLINES, GATE, WITHDRAWN)
  local possible, values = there == 0, {}
  if there == 2 then -- LOCKS and DEADLINES, if both have something
    local fields = {}
    for i = 1, n do fields[i] = writes[2 * i - 1] end
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = owner, 'r' .. ARGV[1], 'l', 'k'
    values = call('HMGET', LOCKS, unpack(fields))
    local first = call('ZRANGE', DEADLINES, '0', '0', 'WITHSCORES')
    possible = values[1] and tonumber(first[2] or 0) > NOW and not (values[n + 1] or values[n + 2] or values[n + 3])
  end

  for i = 1, possible and n or 0 do
    local value, want = values[i], writes[2 * i] - 48
    if not value then
      value = want == IX and '10' or int(want == IS and ONE_SHARED or ONE + want)
    else
      local mode = value % ONE
      local taken = mode > 0 and 2 ^ (mode - 1) or 0
      if tonumber(value) >= ONE_SHARED then
        taken = bit.bor(taken, floor(value / ONE_WAITING), value % ONE_WAITING >= ONE_SHARED and 1 or 0)
      end
      if band(byte(CONFLICTING, want), taken) ~= 0 then
        possible = false
        break
      end
      value = int(value + (want == IS and ONE_SHARED or mode == 0 and ONE + want or ONE))
    end
    writes[2 * i] = value
  end

  if possible then
    local fence, till = next_fence(), int(NOW + ARGV[3])
    writes[2 * n + 1] = owner
    writes[2 * n + 2] = cmsgpack.pack({
      id = id, fence = fence, since = int(NOW), claims = claims, paths = ARGV[8], note = ARGV[9],
      origin = ARGV[10],
    })
    -- A deadline of an owner that holds nothing does no harm, should this script fail here.
    call('ZADD', DEADLINES, till, owner)
    -- The keys live as long as the last lease in them.
    if there == 0 then
      call('PEXPIREAT', DEADLINES, till)
      call('HSET', LOCKS, unpack(writes))
      call('PEXPIREAT', LOCKS, till)
    else
      call('PEXPIREAT', DEADLINES, till, 'GT')
      call('PEXPIREAT', LOCKS, till, 'GT')
      if values[n + 4] then call('PEXPIREAT', QUEUE, till, 'GT') end
      call('HSET', LOCKS, unpack(writes))
    end
    return { 'granted', fence }
  end
end
