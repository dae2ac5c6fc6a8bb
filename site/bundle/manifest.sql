-- The tables of the manifest, made where they are not there yet.
CREATE TABLE IF NOT EXISTS files (
  path TEXT PRIMARY KEY, digest BLOB NOT NULL, size INTEGER NOT NULL, release INTEGER NOT NULL,
  as_of INTEGER NOT NULL, doomed_at INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_by_release ON files (release);
CREATE INDEX IF NOT EXISTS files_by_digest ON files (digest);
CREATE INDEX IF NOT EXISTS files_doomed ON files (doomed_at) WHERE doomed_at IS NOT NULL;
-- What a path held until `release` replaced it; a digest of null: it did not exist.
CREATE TABLE IF NOT EXISTS history (
  path TEXT NOT NULL, release INTEGER NOT NULL, digest BLOB, size INTEGER,
  PRIMARY KEY (path, release)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS history_by_release ON history (release);
CREATE INDEX IF NOT EXISTS history_by_digest ON history (digest);
CREATE TABLE IF NOT EXISTS releases (
  id INTEGER PRIMARY KEY, reason TEXT NOT NULL, created_at INTEGER NOT NULL, changed_files INTEGER NOT NULL,
  fast_sequence INTEGER NOT NULL, slow_sequence INTEGER NOT NULL, inputs_digest TEXT NOT NULL
);
-- Paths whose bytes the newest full build found to be others than before.
CREATE TABLE IF NOT EXISTS differing (path TEXT PRIMARY KEY) WITHOUT ROWID;
-- Paths whose content it found damaged on the disk.
CREATE TABLE IF NOT EXISTS repaired (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- Blobs of files without a history (the snapshot, the list of all files), to be removed a little later.
CREATE TABLE IF NOT EXISTS spare_blobs (
  digest BLOB PRIMARY KEY, spare_since INTEGER NOT NULL
) WITHOUT ROWID;
-- Where content lies: the bytes from `start` of a segment; segment 0: a file of its own.
CREATE TABLE IF NOT EXISTS blobs (
  digest BLOB PRIMARY KEY, pack INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL
) WITHOUT ROWID;
-- How many bytes of a segment something names.
CREATE TABLE IF NOT EXISTS packs (pack INTEGER PRIMARY KEY, live INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS blob_added AFTER INSERT ON blobs BEGIN
  INSERT INTO packs (pack, live) VALUES (new.pack, new.length)
  ON CONFLICT (pack) DO UPDATE SET live = live + excluded.live;
END;
CREATE TRIGGER IF NOT EXISTS blob_gone AFTER DELETE ON blobs BEGIN
  UPDATE packs SET live = live - old.length WHERE pack = old.pack;
END;
CREATE TRIGGER IF NOT EXISTS blob_moved AFTER UPDATE ON blobs BEGIN
  UPDATE packs SET live = live - old.length WHERE pack = old.pack;
  INSERT INTO packs (pack, live) VALUES (new.pack, new.length)
  ON CONFLICT (pack) DO UPDATE SET live = live + excluded.live;
END;
-- By which content is compressed. One of each kind of document is the newest; older content names others.
CREATE TABLE IF NOT EXISTS dictionaries (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL);
-- Documents that could not be rendered; their older version stays until they can.
CREATE TABLE IF NOT EXISTS failures (
  key TEXT PRIMARY KEY, error TEXT NOT NULL, failed_at INTEGER NOT NULL
) WITHOUT ROWID;
