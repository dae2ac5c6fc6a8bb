CREATE TABLE `recommendation_drafts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`recommended_for` text NOT NULL,
	`normalised` text NOT NULL,
	`why_recommended` text NOT NULL,
	`source_url` text NOT NULL,
	`agent_id` text NOT NULL,
	`agent_name` text NOT NULL,
	`network` text,
	`sensitive_claims` text DEFAULT '[]' NOT NULL,
	`test_data` integer DEFAULT 0 NOT NULL,
	`phase` integer NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`decided_by` text,
	`created_at` integer NOT NULL,
	`decided_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_draft_per_agent` ON `recommendation_drafts` (`nonprofit_id`,`agent_id`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `drafts_by_nonprofit` ON `recommendation_drafts` (`nonprofit_id`,`status`);--> statement-breakpoint
CREATE INDEX `drafts_for_review` ON `recommendation_drafts` (`id`) WHERE status = 'pending';--> statement-breakpoint
ALTER TABLE `curated_picks` ADD `causes` text;--> statement-breakpoint
ALTER TABLE `curated_picks` ADD `origin` text DEFAULT 'operator' NOT NULL;--> statement-breakpoint
ALTER TABLE `curated_picks` ADD `draft_id` integer;--> statement-breakpoint
ALTER TABLE `curated_picks` ADD `added_by` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `curated_picks` ADD `updated_at` integer DEFAULT 0 NOT NULL;