ALTER TABLE `recommendation_follow_throughs` ADD `form` text;--> statement-breakpoint
ALTER TABLE `recommendation_follow_throughs` ADD `rank` integer;--> statement-breakpoint
ALTER TABLE `recommendation_follow_throughs` ADD `intent_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `one_follow_through` ON `recommendation_follow_throughs` (`recommendation_id`,`action`,`slug`,`intent_id`);--> statement-breakpoint
ALTER TABLE `recommendation_log` ADD `slugs` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `recommendation_log` ADD `phase` integer DEFAULT 1 NOT NULL;