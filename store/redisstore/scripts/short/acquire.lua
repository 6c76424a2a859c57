-- The short way of ACQUIRE, for a few claims of an owner who holds nothing in a tree where nobody waits, nothing
-- has ended, and the gate key is free: it grants the request if every node has room. Its reply is the fence, a number.
--
-- Whatever else there is to be seen to is left to the rest of the script. Where both could
-- go, they do the same: a test compares them.

if ARGV[10] ~= '1' and #ARGV[7] <= MOST_CLAIMS * CLAIM_BYTES then
  local owner, id, lease, claims, paths, note = 'o' .. ARGV[1], ARGV[2], ARGV[3], ARGV[7], ARGV[8], ARGV[9]

  local fields, modes = split(claims)
  local n = #fields
  fields[n + 1] = owner
  local values = call('HMGET', LOCKS, unpack(fields))

  local used = values[1] -- the gate node: whether anybody holds anything
  local possible = modes[1] ~= X and not values[n + 1] and
    call('EXISTS', QUEUE, GATE, THIN) == 0 and
    (not used or call('ZCOUNT', DEADLINES, '-inf', int(NOW)) == 0)

  local writes = {}
  for i = 1, possible and n or 0 do
    local value, want = values[i], modes[i]
    if not value then
      value = want == IX and '10' or int(want == IS and ONE_SHARED or ONE + want)
    else
      local mode = value % ONE
      if want == IS and mode ~= X then
        value = int(value + ONE_SHARED)
      elseif mode == want and (want == IX or want == S) then
        value = int(value + ONE)
      elseif mode == 0 and want ~= X then
        value = int(value + ONE + want)
      else
        possible = false
        break
      end
    end
    writes[2 * i - 1], writes[2 * i] = fields[i], value
  end

  if possible then
    local fence = next_fence()
    local since = int(NOW)
    writes[2 * n + 1] = owner
    writes[2 * n + 2] = pack_grant(id, fence, since, claims, paths, note)
    call('HSET', LOCKS, unpack(writes))
    local till = int(NOW + lease)
    call('ZADD', DEADLINES, till, owner)
    -- The keys live as long as the last lease in them.
    if not used then
      call('PEXPIREAT', LOCKS, till)
      call('PEXPIREAT', DEADLINES, till)
    else
      call('PEXPIREAT', LOCKS, till, 'GT')
      call('PEXPIREAT', DEADLINES, till, 'GT')
    end
    return tonumber(fence)
  end
end
