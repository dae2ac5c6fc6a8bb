ALTER TABLE `register_records` ADD `row_digest` integer;
--> statement-breakpoint
-- A digest says that the row would change nothing. Whoever changes the profile makes that unsure.
CREATE TRIGGER `row_digests_end` AFTER UPDATE ON `nonprofits`
BEGIN
  UPDATE register_records SET row_digest = NULL WHERE nonprofit_id = NEW.id AND row_digest IS NOT NULL;
END;
