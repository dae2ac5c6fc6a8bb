CREATE TABLE `registration_links` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`org_id` text NOT NULL,
	`other_org_id` text NOT NULL,
	`state` text NOT NULL,
	`source` text NOT NULL,
	`set_by` text,
	`set_at` integer NOT NULL,
	`gone` text,
	`kept` text,
	`given` text,
	`undone_by` text,
	`undone_at` integer,
	`reason` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registration_links_once` ON `registration_links` (`org_id`,`other_org_id`);--> statement-breakpoint
CREATE INDEX `registration_links_by_gone` ON `registration_links` (`gone`);--> statement-breakpoint
CREATE INDEX `registration_links_by_kept` ON `registration_links` (`kept`);--> statement-breakpoint
CREATE INDEX `registration_links_by_state` ON `registration_links` (`state`,`id`);--> statement-breakpoint
ALTER TABLE `registrations` ADD `linked_by` text;--> statement-breakpoint
CREATE INDEX `registrations_linked` ON `registrations` (`org_id`) WHERE linked_by is not null;