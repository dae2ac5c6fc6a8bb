ALTER TABLE `donation_intents` ADD `network` text;--> statement-breakpoint
CREATE INDEX `donation_intents_by_network` ON `donation_intents` (`network`) WHERE status = 'waiting';