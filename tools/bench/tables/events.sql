-- Events of a web shop, 3 kB a row: a nested document of 2 kB with what repeats
-- and what does not, a text, a uuid, an exact number and a list.
CREATE UNLOGGED TABLE events (
  id bigint NOT NULL, uid uuid NOT NULL, created_at timestamptz NOT NULL, payload jsonb, body text,
  score double precision, active boolean NOT NULL, amount numeric(38,9), tags text[]
);
-- Values are stored as they are: it is the clients that are compared, not the
-- server's decompression.
ALTER TABLE events ALTER payload SET STORAGE external, ALTER body SET STORAGE external;
INSERT INTO events
SELECT i, md5(i::text)::uuid, timestamptz '2024-01-01 00:00:00+00' + i * interval '7 seconds' + (h & 1048575) % 1000000 * interval '1 microsecond',
  CASE WHEN i % 100 > 0 THEN jsonb_build_object(
    'user', jsonb_build_object('id', h % 50021, 'name', 'user_' || h % 50021, 'plan', (array['free', 'pro', 'team', 'enterprise'])[1 + (h & 3)]),
    'event', (array['click', 'view', 'purchase', 'signup', 'logout'])[1 + h % 5],
    'ip', (h & 255) || '.' || (h >> 8 & 255) || '.' || (h >> 16 & 255) || '.' || (h >> 24 & 255),
    'agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/' || 90 + h % 40 || '.0.0.0 Safari/537.36',
    'trace', md5(h::text),
    'items', (SELECT jsonb_agg(jsonb_build_object('sku', 'SKU-' || (h >> n) % 90001, 'name', (array['walnut desk', 'reading lamp', 'office chair', 'bookshelf'])[1 + ((h >> n) & 3)],
      'price', ((h >> n) & 65535) / 100.0, 'count', 1 + ((h >> n) & 7), 'checksum', md5((h + n)::text))) FROM generate_series(1, 14) n),
    'flags', jsonb_build_object('a', h % 10, 'b', h % 1000 * 1.5, 'c', h % 3 = 0, 'd', null)) END,
  CASE WHEN i % 20 > 0 THEN repeat('the parcel was left with a neighbour; ', 1 + (h & 7)::integer) || (SELECT string_agg(md5((h - n)::text), ' ') FROM generate_series(1, 20) n) END,
  CASE WHEN i % 50 > 0 THEN (h & 4294967295)::double precision / 997 END, h % 3 > 0,
  (h & 281474976710655)::numeric / 1000003,
  CASE WHEN i % 10 > 0 THEN (array[(array['red', 'green', 'blue', 'black'])[1 + (h >> 10 & 3)], 'tag' || h % 100, 'x' || h % 7])[1:1 + i % 3] END
FROM (SELECT i, hashint8extended(i, 4) & 4611686018427387903 AS h FROM generate_series(1, {rows}::bigint) i) hashes;
ALTER TABLE events ADD PRIMARY KEY (id);
