-- Two numbers a row: what is left is the cost of a row.
CREATE TABLE narrow (id bigint NOT NULL, v integer NOT NULL, PRIMARY KEY (id)) ENGINE = InnoDB;
INSERT INTO narrow SELECT seq, conv(left(md5(seq), 8), 16, 10) % 1000003 FROM seq_1_to_{rows};
