-- Events of a web shop, 3 kB a row, as in events.sql; MariaDB has no lists.
CREATE TABLE events (
  id bigint NOT NULL, uid char(36) CHARACTER SET ascii NOT NULL, created_at timestamp(6) NOT NULL DEFAULT '2024-01-01', payload json, body text,
  score double precision, active boolean NOT NULL, amount decimal(38,9), PRIMARY KEY (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4;
INSERT INTO events
SELECT i, insert(insert(insert(insert(s, 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'), timestamp '2024-01-02 00:00:00' + INTERVAL i * 7 SECOND + INTERVAL h % 1000000 MICROSECOND,
  CASE WHEN i % 100 > 0 THEN json_object(
    'user', json_object('id', h % 50021, 'name', concat('user_', h % 50021), 'plan', elt(1 + (h & 3), 'free', 'pro', 'team', 'enterprise')),
    'event', elt(1 + h % 5, 'click', 'view', 'purchase', 'signup', 'logout'),
    'ip', concat_ws('.', h & 255, h >> 8 & 255, h >> 16 & 255, h >> 24 & 255),
    'agent', concat('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/', 90 + h % 40, '.0.0.0 Safari/537.36'),
    'trace', md5(h),
    'items', json_array(json_object('sku', concat('SKU-', (h >> 1) % 90001), 'name', elt(1 + (h >> 1 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 1 & 65535) / 100, 'count', 1 + (h >> 1 & 7), 'checksum', md5(h + 1)),
      json_object('sku', concat('SKU-', (h >> 2) % 90001), 'name', elt(1 + (h >> 2 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 2 & 65535) / 100, 'count', 1 + (h >> 2 & 7), 'checksum', md5(h + 2)),
      json_object('sku', concat('SKU-', (h >> 3) % 90001), 'name', elt(1 + (h >> 3 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 3 & 65535) / 100, 'count', 1 + (h >> 3 & 7), 'checksum', md5(h + 3)),
      json_object('sku', concat('SKU-', (h >> 4) % 90001), 'name', elt(1 + (h >> 4 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 4 & 65535) / 100, 'count', 1 + (h >> 4 & 7), 'checksum', md5(h + 4)),
      json_object('sku', concat('SKU-', (h >> 5) % 90001), 'name', elt(1 + (h >> 5 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 5 & 65535) / 100, 'count', 1 + (h >> 5 & 7), 'checksum', md5(h + 5)),
      json_object('sku', concat('SKU-', (h >> 6) % 90001), 'name', elt(1 + (h >> 6 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 6 & 65535) / 100, 'count', 1 + (h >> 6 & 7), 'checksum', md5(h + 6)),
      json_object('sku', concat('SKU-', (h >> 7) % 90001), 'name', elt(1 + (h >> 7 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 7 & 65535) / 100, 'count', 1 + (h >> 7 & 7), 'checksum', md5(h + 7)),
      json_object('sku', concat('SKU-', (h >> 8) % 90001), 'name', elt(1 + (h >> 8 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 8 & 65535) / 100, 'count', 1 + (h >> 8 & 7), 'checksum', md5(h + 8)),
      json_object('sku', concat('SKU-', (h >> 9) % 90001), 'name', elt(1 + (h >> 9 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 9 & 65535) / 100, 'count', 1 + (h >> 9 & 7), 'checksum', md5(h + 9)),
      json_object('sku', concat('SKU-', (h >> 10) % 90001), 'name', elt(1 + (h >> 10 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 10 & 65535) / 100, 'count', 1 + (h >> 10 & 7), 'checksum', md5(h + 10)),
      json_object('sku', concat('SKU-', (h >> 11) % 90001), 'name', elt(1 + (h >> 11 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 11 & 65535) / 100, 'count', 1 + (h >> 11 & 7), 'checksum', md5(h + 11)),
      json_object('sku', concat('SKU-', (h >> 12) % 90001), 'name', elt(1 + (h >> 12 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 12 & 65535) / 100, 'count', 1 + (h >> 12 & 7), 'checksum', md5(h + 12)),
      json_object('sku', concat('SKU-', (h >> 13) % 90001), 'name', elt(1 + (h >> 13 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 13 & 65535) / 100, 'count', 1 + (h >> 13 & 7), 'checksum', md5(h + 13)),
      json_object('sku', concat('SKU-', (h >> 14) % 90001), 'name', elt(1 + (h >> 14 & 3), 'walnut desk', 'reading lamp', 'office chair', 'bookshelf'), 'price', (h >> 14 & 65535) / 100, 'count', 1 + (h >> 14 & 7), 'checksum', md5(h + 14))),
    'flags', json_object('a', h % 10, 'b', h % 1000 * 1.5, 'c', h % 3 = 0, 'd', null)) END,
  CASE WHEN i % 20 > 0 THEN concat_ws(' ', repeat('the parcel was left with a neighbour; ', 1 + (h & 7)), md5(h - 1), md5(h - 2), md5(h - 3), md5(h - 4), md5(h - 5), md5(h - 6), md5(h - 7), md5(h - 8), md5(h - 9), md5(h - 10), md5(h - 11), md5(h - 12), md5(h - 13), md5(h - 14), md5(h - 15), md5(h - 16), md5(h - 17), md5(h - 18), md5(h - 19), md5(h - 20)) END,
  CASE WHEN i % 50 > 0 THEN (h & 4294967295) / 997e0 END, h % 3 > 0, (h & 281474976710655) / 1000003.0
FROM (SELECT seq AS i, md5(seq) AS s, cast(conv(left(sha1(seq), 15), 16, 10) AS unsigned) AS h FROM seq_1_to_{rows} LIMIT {rows}) hashes;
