CREATE TABLE `register_records` (
	`org_id` text NOT NULL,
	`register` text NOT NULL,
	`nonprofit_id` integer,
	`name` text NOT NULL,
	`as_of` text NOT NULL,
	`scope` text NOT NULL,
	`state` text NOT NULL,
	`facts` text NOT NULL,
	PRIMARY KEY(`org_id`, `register`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `register_scopes` (
	`register` text NOT NULL,
	`scope` text NOT NULL,
	`as_of` text NOT NULL,
	PRIMARY KEY(`register`, `scope`)
);
--> statement-breakpoint
CREATE TABLE `corrections` (
	`id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`what_is_wrong` text NOT NULL,
	`suggested_value` text,
	`source_url` text,
	`contact_email` text,
	`network` text,
	`request_digest` text NOT NULL,
	`status_digest` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`reviewed_by` text,
	`created_at` integer NOT NULL,
	`reviewed_at` integer
);
--> statement-breakpoint
CREATE INDEX `corrections_by_status` ON `corrections` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `corrections_waiting_for_nonprofit` ON `corrections` (`nonprofit_id`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE INDEX `corrections_waiting_of_network` ON `corrections` (`network`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE UNIQUE INDEX `corrections_by_status_token` ON `corrections` (`status_digest`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_correction_per_request` ON `corrections` (`request_digest`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE INDEX `corrections_with_contact` ON `corrections` (`reviewed_at`) WHERE contact_email is not null and status <> 'pending_review';
--> statement-breakpoint
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
ALTER TABLE `provenance` ADD `rule` text;
--> statement-breakpoint
ALTER TABLE `imports` ADD `fetched` text;--> statement-breakpoint
ALTER TABLE `imports` ADD `problem` text;
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE `registration_links` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`org_id` text NOT NULL,
	`other_org_id` text NOT NULL,
	`state` text NOT NULL,
	`source` text NOT NULL,
	`set_by` text,
	`set_at` integer NOT NULL,
	`gone` text,
	`kept` text,
	`given` text,
	`undone_by` text,
	`undone_at` integer,
	`reason` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registration_links_once` ON `registration_links` (`org_id`,`other_org_id`);--> statement-breakpoint
CREATE INDEX `registration_links_by_gone` ON `registration_links` (`gone`);--> statement-breakpoint
CREATE INDEX `registration_links_by_kept` ON `registration_links` (`kept`);--> statement-breakpoint
CREATE INDEX `registration_links_by_state` ON `registration_links` (`state`,`id`);--> statement-breakpoint
ALTER TABLE `registrations` ADD `linked_by` text;--> statement-breakpoint
CREATE INDEX `registrations_linked` ON `registrations` (`org_id`) WHERE linked_by is not null;
--> statement-breakpoint
CREATE INDEX `register_records_by_company` ON `register_records` (facts ->> 'company_number') WHERE facts ->> 'company_number' is not null;
--> statement-breakpoint
CREATE INDEX `register_records_of` ON `register_records` (`nonprofit_id`,`org_id`,`register`);
