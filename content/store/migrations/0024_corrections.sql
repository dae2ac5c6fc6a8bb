CREATE TABLE `corrections` (
	`id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`what_is_wrong` text NOT NULL,
	`suggested_value` text,
	`source_url` text,
	`contact_email` text,
	`network` text,
	`request_digest` text NOT NULL,
	`status_digest` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`reviewed_by` text,
	`created_at` integer NOT NULL,
	`reviewed_at` integer
);
--> statement-breakpoint
CREATE INDEX `corrections_by_status` ON `corrections` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `corrections_waiting_for_nonprofit` ON `corrections` (`nonprofit_id`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE INDEX `corrections_waiting_of_network` ON `corrections` (`network`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE UNIQUE INDEX `corrections_by_status_token` ON `corrections` (`status_digest`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_correction_per_request` ON `corrections` (`request_digest`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE INDEX `corrections_with_contact` ON `corrections` (`reviewed_at`) WHERE contact_email is not null and status <> 'pending_review';