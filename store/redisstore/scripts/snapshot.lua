-- SNAPSHOT reads the holds and the waiters of a tree. It changes nothing, and leaves out what has
-- ended with its lease, whether it has been cleared away or not.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- Reply {now in ms, fence or '', value of the gate key or '', its time to live in ms or -2 if there
--         is none, and for each grant and each queued request nine strings: 'holder' or 'waiter',
--         owner, fence or ticket, until when and since when in ms, claims, paths, note, origin}

local reply = { int(NOW), call('GET', FENCE) or '', gate() or '', call('PTTL', GATE) }
local function show(...)
  for _, field in ipairs({ ... }) do reply[#reply + 1] = field end
end

local scored = call('ZRANGE', DEADLINES, '0', '-1', 'WITHSCORES')
for i = 1, #scored, 2 do
  local kind, what, till = sub(scored[i], 1, 1), sub(scored[i], 2), tonumber(scored[i + 1])
  local held = kind == 'o' and till > NOW and holding(what)
  for _, g in ipairs(held and held.grants or {}) do
    local ends = math.min(apart_ends(what, g.id) or till, till)
    if ends > NOW then show('holder', what, g.fence, int(ends), g.since, g.claims, g.paths, g.note, g.origin) end
  end
  local r = kind == 'w' and till > NOW and request(what)
  if r then show('waiter', r.owner, what, r.till, r.since, r.claims, r.paths, r.note, r.origin) end
end
return reply
