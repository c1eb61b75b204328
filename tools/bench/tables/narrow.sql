-- Two numbers a row: what is left is the cost of a row.
CREATE UNLOGGED TABLE narrow (id bigint NOT NULL, v integer NOT NULL);
INSERT INTO narrow SELECT i, (hashint8extended(i, 5) & 2147483647) % 1000003 FROM generate_series(1, {rows}::bigint) i;
ALTER TABLE narrow ADD PRIMARY KEY (id);
