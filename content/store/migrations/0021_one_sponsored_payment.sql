ALTER TABLE `donation_intents` ADD `sponsored_source` text;--> statement-breakpoint
CREATE UNIQUE INDEX `one_sponsored_payment_per_source` ON `donation_intents` (`sponsored_source`);