CREATE TABLE `agents` (
	`agent_id` text PRIMARY KEY NOT NULL,
	`agent_name` text NOT NULL,
	`submissions` integer DEFAULT 0 NOT NULL,
	`applied` integer DEFAULT 0 NOT NULL,
	`nonprofits_touched` integer DEFAULT 0 NOT NULL,
	`last_seen` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `agents_by_credit` ON `agents` (`applied`,`submissions`,`last_seen`);--> statement-breakpoint
CREATE TABLE `enrichment_counts` (
	`name` text PRIMARY KEY NOT NULL,
	`count` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pending_fields` (
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`pending` integer NOT NULL,
	`list_order` integer NOT NULL,
	PRIMARY KEY(`nonprofit_id`, `field`)
);
--> statement-breakpoint
CREATE INDEX `pending_fields_by_order` ON `pending_fields` (`list_order`,`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `pending_fields_contested` ON `pending_fields` (`nonprofit_id`,`field`) WHERE pending > 1;--> statement-breakpoint
DROP INDEX `submissions_by_status`;--> statement-breakpoint
DROP INDEX `submissions_by_time`;--> statement-breakpoint
CREATE INDEX `submissions_by_agent_and_field` ON `submissions` (`agent_id`,`nonprofit_id`,`field`);--> statement-breakpoint
CREATE INDEX `submissions_applied` ON `submissions` (`field`,`decided_at`) WHERE status = 'applied';--> statement-breakpoint
CREATE INDEX `submissions_for_review` ON `submissions` (`id`) WHERE field_type = 'prose' and status = 'pending' and audit_only = 0;--> statement-breakpoint
CREATE INDEX `submissions_disputing` ON `submissions` (`id`) WHERE status = 'pending' and audit_only = 1 and field_type = 'structured' and confidence > 1 and reason is null;