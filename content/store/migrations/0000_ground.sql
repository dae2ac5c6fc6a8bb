CREATE TABLE `activity_counts` (
	`kind` text NOT NULL,
	`hour` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`kind`, `hour`)
);
--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`operator` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`detail` text DEFAULT '{}' NOT NULL,
	`happened_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `changes` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`nonprofit_id` integer,
	`slug` text,
	`fields` text DEFAULT '[]' NOT NULL,
	`moved_lists` text DEFAULT '[]' NOT NULL,
	`origin` text NOT NULL,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `changes_by_nonprofit` ON `changes` (`nonprofit_id`,`sequence`);--> statement-breakpoint
CREATE TABLE `directory_facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `donation_intents` (
	`id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`recipient` text NOT NULL,
	`amount_micro_usdc` integer NOT NULL,
	`memo` text NOT NULL,
	`tx_signature` text,
	`status` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `donation_intents_memo` ON `donation_intents` (`memo`);--> statement-breakpoint
CREATE INDEX `donation_intents_by_status` ON `donation_intents` (`status`);--> statement-breakpoint
CREATE TABLE `donations` (
	`id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`intent_id` text,
	`amount_micro_usdc` integer NOT NULL,
	`network` text NOT NULL,
	`tx_signature` text NOT NULL,
	`destination` text NOT NULL,
	`donor` text,
	`memo` text,
	`settled_at` integer NOT NULL,
	`recorded_at` integer NOT NULL,
	CONSTRAINT "donations_amount_positive" CHECK("donations"."amount_micro_usdc" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_credit_per_transfer` ON `donations` (`tx_signature`,`destination`);--> statement-breakpoint
CREATE INDEX `donations_by_nonprofit` ON `donations` (`nonprofit_id`,`settled_at`);--> statement-breakpoint
CREATE TABLE `feed_files` (
	`number` integer PRIMARY KEY NOT NULL,
	`first_sequence` integer NOT NULL,
	`last_sequence` integer NOT NULL,
	`closed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`route` text NOT NULL,
	`key` text NOT NULL,
	`request_digest` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`route`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_time` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `impact_metrics` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`unit` text,
	`period` text,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE TABLE `imports` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`format` text NOT NULL,
	`files` text NOT NULL,
	`status` text NOT NULL,
	`added` integer DEFAULT 0 NOT NULL,
	`changed` integer DEFAULT 0 NOT NULL,
	`unchanged` integer DEFAULT 0 NOT NULL,
	`withdrawn` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
CREATE TABLE `listings` (
	`list` text NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`list_order` integer NOT NULL,
	`impact_order` integer NOT NULL,
	`name_key` text NOT NULL,
	PRIMARY KEY(`nonprofit_id`, `list`)
);
--> statement-breakpoint
CREATE INDEX `listings_by_list_order` ON `listings` (`list`,`list_order`,`name_key`,`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `listings_by_impact` ON `listings` (`list`,`impact_order`,`name_key`,`nonprofit_id`);--> statement-breakpoint
CREATE TABLE `nonprofit_causes` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`cause_id` text NOT NULL,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nonprofit_causes_once` ON `nonprofit_causes` (`nonprofit_id`,`cause_id`);--> statement-breakpoint
CREATE TABLE `nonprofits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`tagline` text,
	`mission` text,
	`description` text,
	`country_code` text,
	`region` text,
	`city` text,
	`website` text,
	`donation_url` text,
	`logo_url` text,
	`contact_email` text,
	`usdc_wallet` text,
	`wallet_challenge` text,
	`wallet_signature` text,
	`beneficiaries_per_year` integer,
	`founded_year` integer,
	`annual_budget_usd` real,
	`team_size` integer,
	`ghd_aligned` integer DEFAULT 0 NOT NULL,
	`verified` integer DEFAULT 0 NOT NULL,
	`status` text DEFAULT 'listed' NOT NULL,
	`register` text,
	`register_scope` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "nonprofits_flags" CHECK("nonprofits"."verified" in (0, 1) and "nonprofits"."ghd_aligned" in (0, 1))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nonprofits_slug` ON `nonprofits` (`slug`);--> statement-breakpoint
CREATE INDEX `nonprofits_by_register` ON `nonprofits` (`register`,`register_scope`);--> statement-breakpoint
CREATE TABLE `onboarding_submissions` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`nonprofit_id` integer,
	`request` text NOT NULL,
	`wallet_challenge` text,
	`wallet_signature` text,
	`status` text NOT NULL,
	`reason` text,
	`reviewed_by` text,
	`wallet_effective_at` integer,
	`wallet_stopped` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`reviewed_at` integer
);
--> statement-breakpoint
CREATE INDEX `onboarding_by_status` ON `onboarding_submissions` (`status`,`created_at`);--> statement-breakpoint
CREATE TABLE `programs` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`beneficiaries_per_year` integer,
	`location` text,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE TABLE `provenance` (
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`set_by` text NOT NULL,
	`source` text NOT NULL,
	`source_url` text,
	`agents` text DEFAULT '[]' NOT NULL,
	`applied_at` integer NOT NULL,
	PRIMARY KEY(`nonprofit_id`, `field`)
);
--> statement-breakpoint
CREATE TABLE `recommendation_follow_throughs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`recommendation_id` integer NOT NULL,
	`slug` text NOT NULL,
	`action` text NOT NULL,
	`followed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `recommendation_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`query` text NOT NULL,
	`result_count` integer NOT NULL,
	`top_slug` text,
	`ranking_signals` text NOT NULL,
	`client` text NOT NULL,
	`called_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `recommendation_log_by_client` ON `recommendation_log` (`client`,`called_at`);--> statement-breakpoint
CREATE TABLE `registrations` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`country_code` text NOT NULL,
	`type` text NOT NULL,
	`registration_number` text NOT NULL,
	`org_id` text,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registrations_org_id` ON `registrations` (`org_id`);--> statement-breakpoint
CREATE TABLE `submissions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`field_type` text NOT NULL,
	`value` text NOT NULL,
	`normalised_value` text NOT NULL,
	`source_url` text,
	`agent_id` text NOT NULL,
	`agent_name` text NOT NULL,
	`network` text,
	`status` text NOT NULL,
	`audit_only` integer DEFAULT 0 NOT NULL,
	`test_data` integer DEFAULT 0 NOT NULL,
	`confidence` integer DEFAULT 1 NOT NULL,
	`reason` text,
	`winning_value` text,
	`created_at` integer NOT NULL,
	`decided_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_per_agent_and_field` ON `submissions` (`nonprofit_id`,`field`,`agent_id`) WHERE status = 'pending' and audit_only = 0 and field_type = 'structured';--> statement-breakpoint
CREATE INDEX `submissions_by_field` ON `submissions` (`nonprofit_id`,`field`,`status`,`normalised_value`);--> statement-breakpoint
CREATE INDEX `submissions_by_agent` ON `submissions` (`agent_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `submissions_by_status` ON `submissions` (`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `submissions_by_time` ON `submissions` (`created_at`);