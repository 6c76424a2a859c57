-- The short way of RELEASE for one holder and one waiter. It gives back the only grant in the tree,
-- and grants the only waiter's request as a thin lock. Its reply is 1.
--
-- It leaves all other cases to the rest of the script. Where both could answer, they do the same:
-- TestWays compares them.

if call('EXISTS', QUEUE) == 1 and call('ZCARD', DEADLINES) == 2 and call('EXISTS', GATE) == 0 and
  call('ZCOUNT', DEADLINES, '-inf', int(NOW)) == 0 then
  local holder = 'o' .. ARGV[1]
  local members = call('ZRANGE', DEADLINES, '0', '1')
  local waiter = members[members[1] == holder and 2 or 1]
  local found = call('HMGET', LOCKS, holder, waiter, 'l', 'p', 'x')
  if sub(waiter, 1, 1) == 'w' and found[1] and found[2] and not found[3] and not found[4] and not found[5] then
    local id, _, _, held, _, _, behind = struct.unpack(GRANT, found[1])
    local owner, grant, lease, _, _, seen, channel, ref, claims, paths, note = struct.unpack(REQUEST, found[2])
    local till = seen + lease
    local possible = id == ARGV[2] and behind > #found[1] and till > NOW and
      byte(held, CLAIM_BYTES) ~= 48 + X and byte(claims, CLAIM_BYTES) ~= 48 + X
    -- Without memory the first write fails, and the rest of the script knows how to go on.
    local fence
    if possible then possible, fence = pcall(next_fence) end
    if possible then
      call('DEL', LOCKS, DEADLINES, QUEUE)
      call('SET', THIN, struct.pack(THIN_HEAD, #owner, owner, #int(till), int(till)) ..
        pack_grant(grant, fence, int(NOW), claims, paths, note), 'PXAT', int(till))
      call('PUBLISH', channel, 'granted ' .. ref .. ' ' .. fence)
      return 1
    end
  end
end
