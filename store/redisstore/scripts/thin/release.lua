-- The thin way of RELEASE: gives back the only grant in the tree. Its reply is 1.

thin = call('GET', THIN)
if thin then
  local owner, _, at = struct.unpack(THIN_HEAD, thin)
  if owner == ARGV[1] and struct.unpack('>I4c0', thin, at) == ARGV[2] then
    call('DEL', THIN)
    return 1
  end
end
