-- Thin locks: the only grant in a tree, in one string.

-- inflate moves a thin lock, if there is one, into locks and deadlines. Nobody else is in the tree.
-- Until the DEL of THIN at the end, it is as if nothing had been done.
local function inflate()
  if thin == nil then thin = call('GET', THIN) end
  if not thin then return false end
  local owner, till, at = struct.unpack(THIN_HEAD, thin)
  local record = sub(thin, at)
  local _, _, _, claims = struct.unpack(GRANT, record)
  local fields = { 'o' .. owner, record }
  local names, modes = split(claims)
  for i = 1, #names do
    fields[#fields + 1] = names[i]
    fields[#fields + 1] = int(modes[i] == IS and ONE_SHARED or ONE + modes[i])
  end
  -- This removes what is left of keys that Redis has evicted, or of a script that failed. It needs
  -- no memory, so the script may write the rest at maxmemory too.
  call('DEL', LOCKS, DEADLINES, QUEUE)
  in_portions('HSET', LOCKS, fields)
  call('PEXPIREAT', LOCKS, till)
  call('ZADD', DEADLINES, till, 'o' .. owner)
  call('PEXPIREAT', DEADLINES, till)
  call('DEL', THIN)
  thin = false
  return true
end
