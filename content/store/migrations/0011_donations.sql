CREATE TABLE `donation_intents` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`proof` text NOT NULL,
	`amount_micro_usdc` integer NOT NULL,
	`payment` text,
	`blockhash` text,
	`status` text NOT NULL,
	`outcome` text,
	`checks` integer DEFAULT 0 NOT NULL,
	`check_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `donation_intents_once` ON `donation_intents` (`nonprofit_id`,`proof`);--> statement-breakpoint
CREATE INDEX `donation_intents_by_check` ON `donation_intents` (`status`,`check_at`);--> statement-breakpoint
ALTER TABLE `donations` ADD `slot` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `donations` ADD `commitment` text DEFAULT 'confirmed' NOT NULL;--> statement-breakpoint
ALTER TABLE `donations` ADD `recipient` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `donations` ADD `mint` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `donations_by_time` ON `donations` (`recorded_at`);--> statement-breakpoint
CREATE INDEX `donations_by_memo` ON `donations` (`memo`);