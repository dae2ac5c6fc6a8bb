PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_wallet_holds` (
	`submission_id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`wallet_before` text,
	`wallet` text NOT NULL,
	`wallet_challenge` text,
	`wallet_signature` text,
	`status` text NOT NULL,
	`reason` text,
	`approved_by` text NOT NULL,
	`approved_at` integer NOT NULL,
	`effective_at` integer NOT NULL,
	`decided_by` text,
	`decided_at` integer
);
--> statement-breakpoint
INSERT INTO `__new_wallet_holds`("submission_id", "nonprofit_id", "wallet_before", "wallet", "wallet_challenge", "wallet_signature", "status", "reason", "approved_by", "approved_at", "effective_at", "decided_by", "decided_at") SELECT "submission_id", "nonprofit_id", "wallet_before", "wallet", "wallet_challenge", "wallet_signature", "status", "reason", "approved_by", "approved_at", "effective_at", "decided_by", "decided_at" FROM `wallet_holds`;--> statement-breakpoint
DROP TABLE `wallet_holds`;--> statement-breakpoint
ALTER TABLE `__new_wallet_holds` RENAME TO `wallet_holds`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `one_held_wallet_per_nonprofit` ON `wallet_holds` (`nonprofit_id`) WHERE status = 'held';--> statement-breakpoint
CREATE INDEX `wallet_holds_due` ON `wallet_holds` (`effective_at`,`submission_id`) WHERE status = 'held';--> statement-breakpoint
CREATE INDEX `wallet_holds_stopped` ON `wallet_holds` (`nonprofit_id`) WHERE status = 'stopped';--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `proven_host` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `proven_by` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `proven_at` integer;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `mailed_at` integer;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `first_approved_by` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `first_approved_value` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `erased_at` integer;--> statement-breakpoint
CREATE INDEX `onboarding_mailed` ON `onboarding_submissions` (`mailed_at`) WHERE mailed_at is not null;--> statement-breakpoint
CREATE INDEX `onboarding_to_erase` ON `onboarding_submissions` (`reviewed_at`) WHERE status = 'rejected' and erased_at is null;