-- SNAPSHOT reads the whole lock table of a tree at one instant. It changes nothing.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- Reply {now in ms, fence or '', gate key's value or '', its time to live in ms, fields and values of locks, members and scores of deadlines}

return {
  int(NOW),
  call('GET', FENCE) or '',
  gate() or '',
  call('PTTL', GATE),
  call('HGETALL', LOCKS),
  call('ZRANGE', DEADLINES, '0', '-1', 'WITHSCORES'),
}
