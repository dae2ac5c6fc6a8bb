-- `facets` also holds the city, the region, and the initials of the name, without the words that initials leave out:
-- "Veterans of Foreign Wars" is vfw. Each ends with a mark that keeps the stemmer away; see content/search/query.ts.
DROP VIEW `search_documents`;
--> statement-breakpoint
CREATE VIEW `search_documents` AS
SELECT
  p.place, n.id AS nonprofit_id, n.name, n.tagline, n.mission, n.description,
  coalesce((
    SELECT group_concat(char(57344) || replace(c.cause_id, '-', char(57347)), ' ')
    FROM nonprofit_causes AS c
    WHERE c.nonprofit_id = n.id
  ), '') || coalesce(' ' || char(57345) || n.country_code, '')
    || CASE WHEN n.ghd_aligned = 1 THEN ' ' || char(57346) ELSE '' END
    || coalesce(' ' || char(57348) || replace(replace(replace(replace(replace(replace(
      n.city, '''', ''), '’', ''), '.', ''), ',', ' '), '-', ' '), ' ', char(57347)) || char(57347), '')
    || coalesce(' ' || char(57348) || replace(replace(replace(replace(replace(replace(
      n.region, '''', ''), '’', ''), '.', ''), ',', ' '), '-', ' '), ' ', char(57347)) || char(57347), '')
    || ' ' || char(57349) || (
      WITH RECURSIVE words(rest, letters) AS (
        SELECT replace(replace(replace(replace(lower(n.name), '-', ' '), '/', ' '), '(', ' '), '&', ' ') || ' ', ''
        UNION ALL
        SELECT
          substr(rest, instr(rest, ' ') + 1),
          letters || CASE
            WHEN substr(rest, 1, instr(rest, ' ') - 1) IN (
              '', 'of', 'the', 'and', 'for', 'in', 'a', 'an', 'to', 'at', 'on', 'inc', 'inc.', 'incorporated', 'corp',
              'corporation', 'ltd', 'limited', 'llc'
            ) THEN ''
            ELSE substr(rest, 1, 1) || char(57347)
          END
        FROM words
        WHERE rest <> '' AND length(letters) < 16
      )
      SELECT max(letters) FROM words
    ) AS facets
FROM search_places AS p
JOIN nonprofits AS n ON n.id = p.nonprofit_id;
--> statement-breakpoint
DROP TRIGGER `search_reworded`;
--> statement-breakpoint
CREATE TRIGGER `search_reworded` AFTER UPDATE OF `name`, `tagline`, `mission`, `description`, `ghd_aligned`, `city`, `region`
ON `nonprofits`
WHEN (NEW.name, NEW.tagline, NEW.mission, NEW.description, NEW.ghd_aligned, NEW.city, NEW.region)
  IS NOT (OLD.name, OLD.tagline, OLD.mission, OLD.description, OLD.ghd_aligned, OLD.city, OLD.region)
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
INSERT INTO search_index (search_index) VALUES ('delete-all');
--> statement-breakpoint
INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
SELECT place, name, tagline, mission, description, facets
FROM search_documents
ORDER BY place;
