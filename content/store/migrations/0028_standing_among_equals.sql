ALTER TABLE `listings` RENAME COLUMN "name_key" TO "tie_key";--> statement-breakpoint
DROP INDEX `listings_by_list_order`;--> statement-breakpoint
DROP INDEX `listings_by_impact`;
--> statement-breakpoint
-- Equals stand by completeness and size from now on, and by name only then: content/nonprofit/listing.ts says how. Nothing
-- is known of sizes yet. The row ids of the search index say the same, so it is filled again.
DROP TRIGGER `search_listed`;--> statement-breakpoint
DROP TRIGGER `search_unlisted`;--> statement-breakpoint
DROP TRIGGER `search_moved_from`;--> statement-breakpoint
DROP TRIGGER `search_moved_to`;--> statement-breakpoint
UPDATE listings SET tie_key = printf('%06d', 262143 - 32768 * (
  SELECT EXISTS (SELECT 1 FROM nonprofit_causes WHERE nonprofit_id = n.id)
    + (coalesce(n.website, '') <> '')
    + (coalesce(nullif(n.tagline, ''), nullif(n.mission, ''), n.description, '') <> '')
    + (EXISTS (SELECT 1 FROM programs WHERE nonprofit_id = n.id)
      OR EXISTS (SELECT 1 FROM impact_metrics WHERE nonprofit_id = n.id))
    + (coalesce(nullif(n.donation_url, ''), n.usdc_wallet, '') <> '')
  FROM nonprofits AS n
  WHERE n.id = listings.nonprofit_id
)) || tie_key;
--> statement-breakpoint
CREATE INDEX `listings_by_list_order` ON `listings` (`list`,`list_order`,`tie_key`,`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `listings_by_impact` ON `listings` (`list`,`impact_order`,`tie_key`,`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `listings_by_name` ON `listings` (substr(tie_key, 7),`nonprofit_id`) WHERE list = 'all';
--> statement-breakpoint
DROP VIEW `search_places`;
--> statement-breakpoint
-- The rank of a place: nine bits for beneficiaries and verification, twelve for the standing among equals.
CREATE VIEW `search_places` AS
SELECT
  nonprofit_id,
  ((511 - 2 * (8 * length(printf('%o', -impact_order >> 1)) + substr(printf('%o', -impact_order >> 1), 1, 1))
    - (-impact_order & 1)) * 4096 + (CAST(substr(tie_key, 1, 6) AS INTEGER) >> 6)) * 4294967296 + nonprofit_id AS place
FROM listings
WHERE list = 'all';
--> statement-breakpoint
INSERT INTO search_index (search_index) VALUES ('delete-all');
--> statement-breakpoint
INSERT INTO search_words (search_words) VALUES ('delete-all');
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
