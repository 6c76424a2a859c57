-- What no two servers have in common: the host and the port. Arguments: none.
SELECT CONCAT(@@hostname, ':', @@port)
