ALTER TABLE `donation_intents` ADD `recipient` text;--> statement-breakpoint
ALTER TABLE `donations` ADD `source` text;