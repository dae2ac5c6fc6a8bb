CREATE TABLE `wallet_holds` (
	`submission_id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`wallet_before` text NOT NULL,
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
CREATE UNIQUE INDEX `one_held_wallet_per_nonprofit` ON `wallet_holds` (`nonprofit_id`) WHERE status = 'held';--> statement-breakpoint
CREATE INDEX `wallet_holds_due` ON `wallet_holds` (`effective_at`,`submission_id`) WHERE status = 'held';--> statement-breakpoint
-- Nothing ever wrote to this table: it is made anew.
DROP TABLE `onboarding_submissions`;--> statement-breakpoint
CREATE TABLE `onboarding_submissions` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`nonprofit_id` integer,
	`request` text NOT NULL,
	`request_digest` text NOT NULL,
	`status_digest` text NOT NULL,
	`duplicates` text DEFAULT '[]' NOT NULL,
	`wallet_challenge` text,
	`wallet_signature` text,
	`status` text NOT NULL,
	`reason` text,
	`reviewed_by` text,
	`created_at` integer NOT NULL,
	`reviewed_at` integer,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE INDEX `onboarding_by_nonprofit` ON `onboarding_submissions` (`nonprofit_id`,`created_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `onboarding_by_status_token` ON `onboarding_submissions` (`status_digest`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_submission_per_request` ON `onboarding_submissions` (`request_digest`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE UNIQUE INDEX `one_submission_per_challenge` ON `onboarding_submissions` (`wallet_challenge`) WHERE wallet_challenge is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `one_verification_per_nonprofit` ON `onboarding_submissions` (`nonprofit_id`) WHERE type <> 'change' and status = 'approved' and revoked_at is null;--> statement-breakpoint
CREATE INDEX `onboarding_by_status` ON `onboarding_submissions` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `nonprofits_by_place` ON `nonprofits` (`country_code`,lower(city)) WHERE city is not null;--> statement-breakpoint
CREATE INDEX `nonprofits_by_site` ON `nonprofits` (replace(replace(replace(lower(website), 'https://', ''), 'http://', ''), 'www.', '')) WHERE website is not null;--> statement-breakpoint
CREATE INDEX `nonprofits_by_wallet` ON `nonprofits` (`usdc_wallet`) WHERE usdc_wallet is not null;--> statement-breakpoint
CREATE INDEX `registrations_without_org_id` ON `registrations` (`registration_number`) WHERE org_id is null;
