-- The short way of ACQUIRE, for a tree in which others hold, nothing has expired and the gate key
-- is free. It serves requests of few claims, from owners that neither hold nor wait for anything.
-- It grants a request if every node has room and nobody waits for a node in a conflicting mode. Its
-- reply is the fence, a number.
--
-- It leaves all other cases to the rest of the script. Where both could answer, they do the same:
-- TestWays compares them.

if ARGV[10] ~= '1' and #ARGV[13] == 1 and #ARGV[7] <= MOST_CLAIMS * CLAIM_BYTES then
  local owner, id, lease, claims, paths, note = 'o' .. ARGV[1], ARGV[2], ARGV[3], ARGV[7], ARGV[8], ARGV[9]

  local fields, modes = split(claims)
  local n = #fields
  fields[n + 1], fields[n + 2], fields[n + 3] = owner, 'r' .. ARGV[1], 'l'
  local values = call('HMGET', LOCKS, unpack(fields))

  -- The gate node comes first: if it has a field, somebody holds something. The sum is 1 if
  -- DEADLINES is the only one of these keys that exists.
  local possible = values[1] and modes[1] ~= X and not values[n + 1] and not values[n + 2] and not values[n + 3] and
    call('EXISTS', DEADLINES, GATE, GATE, THIN, THIN) == 1 and
    call('ZCOUNT', DEADLINES, '-inf', int(NOW)) == 0

  local writes = {}
  for i = 1, possible and n or 0 do
    local value, want = values[i], modes[i]
    if not value then
      value = want == IX and '10' or int(want == IS and ONE_SHARED or ONE + want)
    else
      local mode = value % ONE
      local there = BIT[mode]
      if tonumber(value) >= ONE_SHARED then
        there = bit.bor(there, floor(value / ONE_WAITING), value % ONE_WAITING >= ONE_SHARED and BIT[IS] or 0)
      end
      if band(CONFLICTS[want], there) ~= 0 then
        possible = false
        break
      end
      value = int(value + (want == IS and ONE_SHARED or mode == 0 and ONE + want or ONE))
    end
    writes[2 * i - 1], writes[2 * i] = fields[i], value
  end

  if possible then
    local fence = next_fence()
    local since, till = int(NOW), int(NOW + lease)
    writes[2 * n + 1] = owner
    writes[2 * n + 2] = pack_grant(id, fence, since, claims, paths, note)
    -- A deadline of an owner that holds nothing does no harm, should this script fail here.
    call('ZADD', DEADLINES, till, owner)
    -- The keys live as long as the last lease in them.
    call('PEXPIREAT', DEADLINES, till, 'GT')
    call('PEXPIREAT', LOCKS, till, 'GT')
    call('HSET', LOCKS, unpack(writes))
    return tonumber(fence)
  end
end
