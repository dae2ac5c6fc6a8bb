-- What search looks in: one row for each nonprofit of the list `all`, so a withdrawn one is in none.
-- Its rowid is its place by impact and verification (bits 32 up, smaller stands first) and its id (bits 0 to 31): FTS5
-- yields matches in the order of rowids, so the foremost of very many matches are found without looking at the others.
-- `facets` holds cause, country and ghd_aligned as words of the private use area, which no query can contain.
CREATE VIEW `search_places` AS
SELECT
  nonprofit_id,
  (511 - 2 * (8 * length(printf('%o', -impact_order >> 1)) + substr(printf('%o', -impact_order >> 1), 1, 1))
    - (-impact_order & 1)) * 4294967296 + nonprofit_id AS place
FROM listings
WHERE list = 'all';
--> statement-breakpoint
CREATE VIEW `search_documents` AS
SELECT
  p.place, n.id AS nonprofit_id, n.name, n.tagline, n.mission, n.description,
  coalesce((
    SELECT group_concat(char(57344) || replace(c.cause_id, '-', char(57347)), ' ')
    FROM nonprofit_causes AS c
    WHERE c.nonprofit_id = n.id
  ), '') || coalesce(' ' || char(57345) || n.country_code, '')
    || CASE WHEN n.ghd_aligned = 1 THEN ' ' || char(57346) ELSE '' END AS facets
FROM search_places AS p
JOIN nonprofits AS n ON n.id = p.nonprofit_id;
--> statement-breakpoint
CREATE VIRTUAL TABLE `search_index` USING fts5(
  name, tagline, mission, description, facets,
  content = '', contentless_delete = 1, prefix = '2 3',
  tokenize = "porter unicode61 remove_diacritics 2"
);
--> statement-breakpoint
-- The words as they are written, for completing a half-typed word whose stem is shorter than what is typed. A word
-- that no longer occurs does no harm, so nothing is ever deleted here.
CREATE VIRTUAL TABLE `search_words` USING fts5(
  words, content = '', columnsize = 0, detail = none,
  tokenize = "unicode61 remove_diacritics 2"
);
--> statement-breakpoint
CREATE VIRTUAL TABLE `search_vocabulary` USING fts5vocab(search_words, row);
--> statement-breakpoint
CREATE TRIGGER `search_listed` AFTER INSERT ON `listings` WHEN NEW.list = 'all'
BEGIN
  INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
  SELECT place, name, tagline, mission, description, facets
  FROM search_documents
  WHERE nonprofit_id = NEW.nonprofit_id;
  INSERT INTO search_words (rowid, words)
  SELECT place, name || ' ' || coalesce(tagline, '') || ' ' || coalesce(mission, '') || ' ' || coalesce(description, '')
  FROM search_documents
  WHERE nonprofit_id = NEW.nonprofit_id;
END;
--> statement-breakpoint
CREATE TRIGGER `search_unlisted` BEFORE DELETE ON `listings` WHEN OLD.list = 'all'
BEGIN
  DELETE FROM search_index
  WHERE rowid = (SELECT place FROM search_places WHERE nonprofit_id = OLD.nonprofit_id);
END;
--> statement-breakpoint
CREATE TRIGGER `search_moved_from` BEFORE UPDATE ON `listings` WHEN OLD.list = 'all'
BEGIN
  DELETE FROM search_index
  WHERE rowid = (SELECT place FROM search_places WHERE nonprofit_id = OLD.nonprofit_id);
END;
--> statement-breakpoint
CREATE TRIGGER `search_moved_to` AFTER UPDATE ON `listings` WHEN NEW.list = 'all'
BEGIN
  INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
  SELECT place, name, tagline, mission, description, facets
  FROM search_documents
  WHERE nonprofit_id = NEW.nonprofit_id;
END;
--> statement-breakpoint
CREATE TRIGGER `search_reworded` AFTER UPDATE OF `name`, `tagline`, `mission`, `description`, `ghd_aligned` ON `nonprofits`
WHEN (NEW.name, NEW.tagline, NEW.mission, NEW.description, NEW.ghd_aligned)
  IS NOT (OLD.name, OLD.tagline, OLD.mission, OLD.description, OLD.ghd_aligned)
BEGIN
  DELETE FROM search_index
  WHERE rowid = (SELECT place FROM search_places WHERE nonprofit_id = NEW.id);
  INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
  SELECT place, name, tagline, mission, description, facets
  FROM search_documents
  WHERE nonprofit_id = NEW.id;
  INSERT INTO search_words (rowid, words)
  SELECT place, name || ' ' || coalesce(tagline, '') || ' ' || coalesce(mission, '') || ' ' || coalesce(description, '')
  FROM search_documents
  WHERE nonprofit_id = NEW.id;
END;
--> statement-breakpoint
INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
SELECT place, name, tagline, mission, description, facets
FROM search_documents
ORDER BY place;
--> statement-breakpoint
INSERT INTO search_words (rowid, words)
SELECT place, name || ' ' || coalesce(tagline, '') || ' ' || coalesce(mission, '') || ' ' || coalesce(description, '')
FROM search_documents
ORDER BY place;
