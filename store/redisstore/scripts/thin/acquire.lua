-- The thin way of ACQUIRE: grants an owner's request if the tree is empty and the gate key is free.
-- Its reply is the fence, a number.

if byte(ARGV[7], CLAIM_BYTES) ~= 48 + X and ARGV[10] ~= '1' and #ARGV[13] == 1 and
  call('EXISTS', LOCKS, THIN, GATE) == 0 then
  local owner, id, lease, claims, paths, note = ARGV[1], ARGV[2], ARGV[3], ARGV[7], ARGV[8], ARGV[9]
  local fence, since, till = next_fence(), int(NOW), int(NOW + lease)
  call('SET', THIN, struct.pack(THIN_HEAD, #owner, owner, #till, till) ..
    pack_grant(id, fence, since, claims, paths, note), 'PXAT', till)
  return tonumber(fence)
end
