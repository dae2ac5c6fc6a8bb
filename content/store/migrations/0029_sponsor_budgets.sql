ALTER TABLE `donation_intents` ADD `sponsored_lamports` integer;--> statement-breakpoint
ALTER TABLE `donation_intents` ADD `sponsored_donor` text;--> statement-breakpoint
CREATE INDEX `donation_intents_sponsored` ON `donation_intents` (`created_at`,`nonprofit_id`,`sponsored_donor`,`sponsored_lamports`) WHERE sponsored_lamports IS NOT NULL;