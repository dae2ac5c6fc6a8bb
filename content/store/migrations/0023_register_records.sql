CREATE TABLE `register_records` (
	`org_id` text NOT NULL,
	`register` text NOT NULL,
	`nonprofit_id` integer,
	`name` text NOT NULL,
	`as_of` text NOT NULL,
	`scope` text NOT NULL,
	`state` text NOT NULL,
	`facts` text NOT NULL,
	PRIMARY KEY(`org_id`, `register`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `register_records_of` ON `register_records` (`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `register_records_by_scope` ON `register_records` (`register`,`scope`);--> statement-breakpoint
CREATE TABLE `register_scopes` (
	`register` text NOT NULL,
	`scope` text NOT NULL,
	`as_of` text NOT NULL,
	PRIMARY KEY(`register`, `scope`)
);
