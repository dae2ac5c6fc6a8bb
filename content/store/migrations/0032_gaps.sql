CREATE TABLE `gaps` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`day` text NOT NULL,
	`network` text NOT NULL,
	`looked_for` text NOT NULL,
	`field` text,
	`cause` text,
	`country_code` text,
	`nonprofit_id` integer,
	`digest` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gaps_digest_unique` ON `gaps` (`digest`);--> statement-breakpoint
CREATE INDEX `gaps_by_day` ON `gaps` (`day`,`network`);--> statement-breakpoint
CREATE INDEX `gaps_of_nonprofit` ON `gaps` (`nonprofit_id`,`day`,`network`) WHERE nonprofit_id is not null;