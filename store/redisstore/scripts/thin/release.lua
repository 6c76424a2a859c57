-- The thin way of RELEASE: gives back the only grant in the tree. Its reply is 1.

thin = call('GET', THIN)
if thin then
  local owner, _, at = struct.unpack(THIN_HEAD, thin)
  if owner == ARGV[1] and struct.unpack('>I4c0', thin, at) == ARGV[2] then
    -- LOCKS and DEADLINES may have what is left of a script that failed (see thin.lua).
    call('DEL', THIN, LOCKS, DEADLINES)
    return 1
  end
end
