DROP TABLE `donation_intents`;--> statement-breakpoint
ALTER TABLE `donations` DROP COLUMN `intent_id`;